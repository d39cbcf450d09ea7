import { expect, test } from 'vitest'
import type { Coverage } from '../contract/records/brief.js'
import { findBrief } from './find-brief.js'
import { requestText } from './request-text.js'
import { SECTIONS } from './sections.js'

const many: Coverage['missing'] = Array.from({ length: 300 }, (_, i) => ({
  kind: i === 0 ? 'request' : 'file',
  text: `${i} ${'long '.repeat(400)}`,
}))

test.each([
  ['the first request', requestText()],
  ['a request for a seat', requestText({ seatName: 'front desk' })],
  ['the second request', requestText({ missing: many })],
  ['the longest request', requestText({ seatName: 's'.repeat(900), missing: many })],
])('%s is marked and short, and names the switch and both ways to submit a brief', (_, text) => {
  expect(text).toMatch(/^\[baton\] /)
  expect(text).toContain('handoff brief')
  expect(text).toContain('# Handoff brief')
  expect(text).toContain('whole answer')
  expect(text).toContain('run `baton handoff ')
  expect(text).toMatch(/`baton off` turns this off\.$/)
  expect(text.length).toBeLessThan(3_000)
})

test.each([
  ['the first request', requestText()],
  ['the second request', requestText({ missing: many })],
  ['the request for a brief without a fence', requestText({ isShown: true })],
])('%s says that no tools are needed, because a fork and a job refuse them', (_, text) => {
  expect(text).toMatch(/\bno tools\b/i)
})

test('the first request names every section and the length', () => {
  const text = requestText()
  for (const { title } of SECTIONS) expect(text).toContain(title)
  expect(text).toContain('8,000 characters')
})

test('the second request lists what is missing, most important first, and counts the rest', () => {
  const text = requestText({ missing: many })
  expect(text.indexOf('Last user request')).toBeLessThan(text.indexOf('Files changed: 1'))
  const named = text.match(/^- Files changed/gm)!.length + 1
  expect(text).toContain(`and ${300 - named} more`)
  expect(requestText({ missing: [{ kind: 'todo', text: 'write\nit down' }] })).toContain(
    '- Open todos: write it down\n',
  )
})

test('a request is never mistaken for a brief', () => {
  expect(findBrief(requestText())).toBeNull()
  expect(findBrief(requestText({ missing: many }))).toBeNull()
})
