import { expect, test } from 'vitest'
import type { Archive } from '../../contract/records/archive.js'
import type { CompactionRecord } from '../../contract/records/compaction.js'
import { factKey } from '../../facts/fact-key.js'
import { aCompaction } from '../../testing/sample-compaction.js'
import { aFact } from '../../testing/sample-fact.js'
import { plain } from './screen.js'
import { archiveLines, compactionLines } from './session-page.js'
import { localTimestamp, widthOf } from './text.js'

const on = { columns: 100, paint: plain, now: new Date('2026-03-01T12:00:00Z') }
const AT = '2026-03-01T11:30:00.000Z'
const long = aFact('request', `Build the shop. ${'It must be good. '.repeat(40)}`)
const LOST = [
  aFact('constraint', 'Never touch\nthe migrations', { state: 'forbidden' }),
  long,
  ...Array.from({ length: 5 }, (_, i) => aFact('file', `src/part-${i}.ts`)),
]

const compaction = (change: Partial<CompactionRecord> = {}): CompactionRecord =>
  aCompaction({
    startedAt: AT,
    loss: {
      total: 17,
      kept: 10,
      byKind: { file: { total: 12, kept: 7 }, request: { total: 2, kept: 1 }, constraint: { total: 3, kept: 2 } },
      lost: LOST,
    },
    first: { at: AT, keys: [factKey(LOST[0]!), factKey(long)] },
    second: { at: AT, keys: [factKey(LOST[2]!)] },
    ...change,
  })
const lines = (...all: CompactionRecord[]): string[] => compactionLines(all, 'd76d6c4d', on)

test('a compaction shows its kept facts by kind, the most important lost ones and the restored ones', () => {
  expect(lines(compaction())).toEqual([
    `${localTimestamp(AT)}  automatic`,
    '  ▰▰▰▰▰▰▱▱▱▱ facts kept 10 of 17, 3 of 7 lost ones put back',
    '  request 1/2 · constraint 2/3 · file 7/12',
    '  lost, most needed first (↩ put back):',
    '    constraint  Never touch the migrations ↩',
    expect.stringMatching(/^ {4}request {5}Build the shop\. .*… ↩$/),
    '    file        src/part-0.ts ↩',
    '    file        src/part-1.ts',
    '    file        src/part-2.ts',
    '    and 2 more: baton recall --lost --session d76d6c4d',
  ])
})

test('the bar is full only when no fact was lost, and empty only when all were', () => {
  const bar = (kept: number): string =>
    lines(compaction({ loss: { total: 1000, kept, byKind: {}, lost: [] } }))[1]!.slice(2, 12)
  expect(bar(1000)).toBe('▰'.repeat(10))
  expect(bar(999)).toBe(`${'▰'.repeat(9)}▱`)
  expect(bar(1)).toBe(`▰${'▱'.repeat(9)}`)
  expect(bar(0)).toBe('▱'.repeat(10))
})

test('a compaction without a report shows the reason', () => {
  expect(lines(compaction({ loss: null, trouble: 'the transcript could not be read (EACCES)' }))[1]).toContain(
    '(EACCES)',
  )
  expect(lines(compaction({ loss: null, facts: null }))[1]).toContain('not read yet')
  expect(lines(compaction({ loss: null }))[1]).toContain('summary is unknown')
})

test('the newest compaction lists its lost facts, older ones only a figure, and the oldest are counted', () => {
  const all = [1, 2, 3, 4, 5].map((day) => compaction({ startedAt: `2026-03-0${day}T11:30:00.000Z` }))
  const shown = lines(...all)
  expect(shown.filter((line) => line.includes('facts kept'))).toHaveLength(3)
  expect(shown.filter((line) => line.includes('lost, most needed'))).toHaveLength(1)
  expect(shown[0]).toContain('2026-03-05')
  expect(shown.at(-1)).toBe('and 2 earlier (--json has all)')
})

const archive = (change: Partial<Archive> = {}): Archive => ({
  archive_id: '0123456789abcdef',
  session_id: 'd76d6c4d',
  title: null,
  project: '/p',
  trigger: 'auto',
  created_at: '2026-03-01T11:56:00.000000Z',
  status: 'kept',
  reason: null,
  bytes: 1_234_567,
  stored_bytes: 1000,
  sha256: 'x',
  path: '/x',
  indexed: true,
  subagents: [],
  ...change,
})

test('archives are counted with the newest one’s age and size, and waiting or failed ones are named', () => {
  expect(archiveLines([], on)).toEqual([])
  expect(archiveLines([archive({ created_at: '2026-02-01T00:00:00.000000Z' }), archive()], on)).toEqual([
    '2 kept',
    'newest 0123456789abcdef  4m ago, 1.2 MB, before a compaction',
  ])
  expect(archiveLines([archive({ status: 'pending' }), archive({ status: 'failed' })], on)).toEqual([
    '1 in progress, 1 failed (baton archive list)',
  ])
})

test('at 58 columns no line of a compaction is wider than the terminal', () => {
  const narrow = { ...on, columns: 58 }
  const every = [
    ...compactionLines([compaction(), compaction({ loss: null, trouble: 'x '.repeat(60).trim() })], 'd76d6c4d', narrow),
  ]
  const shown = [...every, ...compactionLines([compaction()], 'd76d6c4d', narrow), ...archiveLines([archive()], narrow)]
  for (const line of shown) expect(widthOf(line), line).toBeLessThanOrEqual(58)
})
