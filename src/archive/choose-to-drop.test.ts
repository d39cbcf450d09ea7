import { describe, expect, test } from 'vitest'
import { sampleArchive, sampleSegment } from '../store/archives.cases.js'
import { chooseToDrop, configuredRounds } from './choose-to-drop.js'

const day = (n: number): string => `2026-03-${String(n).padStart(2, '0')}T00:00:00.000000Z`
const archive = (id: string, sessionId: string, n: number, bytes: number, more = {}) =>
  sampleArchive(id, {
    sessionId,
    createdAt: day(n),
    status: 'kept' as const,
    parts: [
      { name: '', path: '/t', bytes, mark: '', link: null, streamId: `of ${sessionId}`, sha256: 'x', trouble: null },
    ],
    ...more,
  })
const segment = (sessionId: string, from: number, to: number) => ({
  ...sampleSegment(`of ${sessionId}`, from, to, sessionId),
  storedBytes: to - from,
})
const ids = (records: { archiveId: string }[]): string[] => records.map(({ archiveId }) => archiveId)

describe('what a retention drops', () => {
  const records = [archive('a1', 'a', 1, 10), archive('b1', 'b', 2, 20), archive('a2', 'a', 3, 30)]
  const segments = [segment('a', 0, 10), segment('a', 10, 30), segment('b', 0, 20)]
  const dropped = (olderThan: string | null, mostBytes: number | null) =>
    ids(chooseToDrop(records, segments, { olderThan, mostBytes }))

  test('by age is each archive that is too old', () => {
    expect(dropped(day(1), null)).toEqual([])
    expect(dropped(day(2), null)).toEqual(['a1'])
    expect(dropped(day(9), null)).toEqual(['a1', 'b1', 'a2'])
  })

  test('by size is whole sessions, the one archived longest ago first, and no more than needed', () => {
    expect(dropped(null, 50)).toEqual([])
    expect(dropped(null, 49)).toEqual(['b1'])
    expect(dropped(null, 30)).toEqual(['b1'])
    expect(dropped(null, 29)).toEqual(['a1', 'b1', 'a2'])
  })

  test('by both counts what age has dropped already', () => {
    expect(dropped(day(3), 30)).toEqual(['a1', 'b1'])
  })

  test('is never what waits or may be tried again; what failed for good goes by age', () => {
    const open = [
      archive('p', 'p', 1, 9, { status: 'pending' }),
      archive('r', 'r', 1, 9, { status: 'failed', retryAt: day(9) }),
      archive('f', 'f', 1, 0, { status: 'failed' }),
    ]
    expect(ids(chooseToDrop(open, [], { olderThan: day(20), mostBytes: 0 }))).toEqual(['f'])
  })
})

describe('what the configuration says', () => {
  const records = [
    archive('a', 'a', 1, 1, { project: '/a' }),
    archive('b', 'b', 1, 1, { project: '/b' }),
    archive('n', 'n', 1, 1, { project: null }),
  ]
  const rounds = (rules: Record<string, { keepDays: number | null; keepBytes: number | null }>) =>
    configuredRounds(
      records,
      (project) => rules[project ?? 'all'] ?? rules.all!,
      new Date('2026-03-11T00:00:00.000Z'),
    ).map(({ among, retention }) => [
      ids(records.filter(among)).join(' '),
      retention.olderThan?.slice(0, 10) ?? null,
      retention.mostBytes,
    ])

  test('is nothing by default', () => {
    expect(rounds({ all: { keepDays: null, keepBytes: null } })).toEqual([])
  })

  test('is by age for each project, by size for all together', () => {
    expect(rounds({ all: { keepDays: 10, keepBytes: 500 } })).toEqual([
      ['a', '2026-03-01', null],
      ['b', '2026-03-01', null],
      ['n', '2026-03-01', null],
      ['a b n', null, 500],
    ])
  })

  test('is by size for a project where its own file says so', () => {
    expect(rounds({ all: { keepDays: null, keepBytes: null }, '/b': { keepDays: 1, keepBytes: 7 } })).toEqual([
      ['b', '2026-03-10', 7],
    ])
  })
})
