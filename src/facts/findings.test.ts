import { expect, test } from 'vitest'
import type { TextEntry } from '../contract/conversation.js'
import { startFacts } from './facts.js'

let line = 0
const say = (by: TextEntry['by'], text: string): TextEntry => ({ kind: 'said', by, text, line: ++line, at: null })

function findingsOf(...entries: TextEntry[]) {
  const facts = startFacts()
  for (const entry of entries) facts.add(entry)
  return facts.facts().filter(({ kind }) => kind === 'finding')
}

test('statements of the agent that name something specific are findings', () => {
  const found = findingsOf(
    say('user', 'Why is the import slow? See lib/import.rb'),
    say('agent', 'The time goes into `Row.normalize`, which runs twice per row. I will fix that. Should I start?'),
  )
  expect(found.map(({ text }) => text)).toEqual(['The time goes into `Row.normalize`, which runs twice per row.'])
})

test('only the text with which a turn ended is marked as its end', () => {
  const found = findingsOf(
    say('user', 'Look at the import.'),
    say('agent', 'First I read lib/import.rb from start to end.'),
    say('agent', 'The cause is a missing index on rows.batch_id.'),
    say('user', 'Good, fix it.'),
    say('agent', 'Added the index in db/migrate/0042_index_rows.rb.'),
  )
  expect(found.map(({ detail }) => detail.ends)).toEqual([false, true, true])
})

test('rows of a table are findings, and its rule line is not', () => {
  const [row, ...others] = findingsOf(
    say('agent', 'Results:\n\n| case | time |\n|---|---|\n| cold_start of the pool | 840 ms |'),
  )
  expect(row!.text).toBe('cold_start of the pool · 840 ms')
  expect(others).toEqual([])
})

test('a statement that the agent repeats counts once, where it was made last', () => {
  const text = 'The limit of 512 rows stands in config/import.yml.'
  const found = findingsOf(say('agent', text), say('user', 'Again?'), say('agent', text))
  expect(found).toHaveLength(1)
  expect(found[0]!.line).toBe(line)
})

test('findings survive a stored state of the collector', () => {
  const first = startFacts()
  first.add(say('agent', 'The cause is a missing index on rows.batch_id.'))
  const second = startFacts(structuredClone(first.state()))
  second.add(say('user', 'Thanks'))
  expect(second.facts().find(({ kind }) => kind === 'finding')!.detail.ends).toBe(true)
})
