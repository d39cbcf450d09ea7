import { expect, test } from 'vitest'
import { called, said } from '../testing/sample-conversation.js'
import { aFact } from '../testing/sample-fact.js'
import { formatChoice } from './decision-text.js'
import { watchDecisions } from './decisions.js'
import { pickedOption } from './picked-option.js'

const LIST = 'Where shall it live?\n\n1. **In the store** - one table\n2. **In a file** - no lock\n\nWhich one?'
const TABLE =
  '| Way | Cost |\n|---|---|\n| **A. Count on write** | slow |\n| **B. Count on read** | simple |\n\nWhich one?'
const HEADINGS = '## Option A: Keep both\nMore code.\n\n## Option B: Drop the old one\nA break.\n\nYour call.'
const JAPANESE = '**A) 毎晩まとめて送る**\n- 速い\n\n**B) すぐに送る**\n\nどちらにしますか？'

test.each([
  ['2', LIST, 'In a file - no lock'],
  ['1.', LIST, 'In the store - one table'],
  ["yes, let's go with 2", LIST, 'In a file - no lock'],
  ['B. is fine, make sure we log it', TABLE, 'Count on read – simple'],
  ['I think A, it stays exact', TABLE, 'Count on write – slow'],
  ['B seems like a good idea', HEADINGS, 'Drop the old one'],
  ['Aにしよう', JAPANESE, '毎晩まとめて送る'],
])('%j picks an option of the offer', (prompt, offer, option) => {
  expect(pickedOption(prompt, offer)?.option).toBe(option)
})

test.each([
  ['3', LIST],
  ['2 of the tests fail', LIST],
  ['a longer name would help', TABLE],
  ['what is A?', TABLE],
  ['yes', HEADINGS],
])('%j picks no option', (prompt, offer) => {
  expect(pickedOption(prompt, offer)).toBeNull()
})

test('a picked option is one decision that tells the user’s words and the option', () => {
  const watcher = watchDecisions()
  watcher.said!(said('agent', TABLE))
  watcher.said!(said('user', 'B. is fine'))
  expect(watcher.facts().map(({ text, detail }) => [text, detail.by])).toEqual([
    ['B. is fine (picked: Count on read – simple)', 'user'],
  ])
})

test('an option offered before the agent went on working is not picked', () => {
  const watcher = watchDecisions()
  watcher.said!(said('agent', LIST))
  watcher.called!(called({ type: 'command', command: 'ls', background: false }))
  watcher.said!(said('user', '2'))
  expect(watcher.facts()).toEqual([])
})

test('the agent’s words for a picked option are quoted as data', () => {
  const detail = { by: 'user', how: 'picked', said: '2', option: 'In a file' }
  const fact = aFact('decision', '2 (picked: In a file)', { detail })
  expect(formatChoice(fact, 100)).toBe('2 (picked: `In a file`)')
})
