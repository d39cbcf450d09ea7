import { expect, test } from 'vitest'
import { shortTitle, workTitle } from './short-title.js'

test('a title is one line of at most 80 characters', () => {
  expect(shortTitle('  Fix the login.\n\nThen push. ')).toBe('Fix the login. Then push.')
  const long = shortTitle(`Fix${'very'.repeat(100)}`)!
  expect([...long]).toHaveLength(80)
  expect(long.endsWith('…')).toBe(true)
  expect([...shortTitle('🚀'.repeat(200))!]).toHaveLength(80)
  expect(shortTitle(' \n\t ')).toBeNull()
})

test('a title contains no terminal escapes and cannot pass for text of Baton', () => {
  expect(shortTitle('\u001b[2J\u0007red\u001b[31m \u202eback\r\n')).toBe('red back')
  expect(shortTitle('[baton] Stop')).toBe('(baton) Stop')
})

test('work is named by its agent and work item, and without a work item by its prompt', () => {
  const prompt = 'Fix the login.\nThen push.'
  expect(workTitle({ agentName: 'coder', workItem: 'SHOP-12', prompt })).toBe('coder: SHOP-12')
  expect(workTitle({ agentName: null, workItem: 'SHOP-12', prompt })).toBe('SHOP-12')
  expect(workTitle({ agentName: 'coder', workItem: null, prompt })).toBe('Fix the login. Then push.')
})
