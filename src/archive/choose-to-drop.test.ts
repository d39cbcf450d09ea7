import { describe, expect, test } from 'vitest'
import { sampleArchive, sampleSegment } from '../store/archives.cases.js'
import { chooseToDelete, configuredRetentions } from './choose-to-drop.js'

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

describe('archives that a retention rule deletes', () => {
  const records = [archive('a1', 'a', 1, 10), archive('b1', 'b', 2, 20), archive('a2', 'a', 3, 30)]
  const segments = [segment('a', 0, 10), segment('a', 10, 30), segment('b', 0, 20)]
  const deletedIds = (olderThan: string | null, mostBytes: number | null) =>
    ids(chooseToDelete(records, segments, { olderThan, mostBytes }))

  test('a limit by age deletes every archive that is too old', () => {
    expect(deletedIds(day(1), null)).toEqual([])
    expect(deletedIds(day(2), null)).toEqual(['a1'])
    expect(deletedIds(day(9), null)).toEqual(['a1', 'b1', 'a2'])
  })

  test('a limit by size deletes whole sessions, the least recently archived first, and no more than needed', () => {
    expect(deletedIds(null, 50)).toEqual([])
    expect(deletedIds(null, 49)).toEqual(['b1'])
    expect(deletedIds(null, 30)).toEqual(['b1'])
    expect(deletedIds(null, 29)).toEqual(['a1', 'b1', 'a2'])
  })

  test('with limits by age and size, the size limit counts what age has deleted already', () => {
    expect(deletedIds(day(3), 30)).toEqual(['a1', 'b1'])
  })

  test('pending and retried archives are never deleted, and archives that failed for good go by age', () => {
    const open = [
      archive('p', 'p', 1, 9, { status: 'pending' }),
      archive('r', 'r', 1, 9, { status: 'failed', retryAt: day(9) }),
      archive('f', 'f', 1, 0, { status: 'failed' }),
    ]
    expect(ids(chooseToDelete(open, [], { olderThan: day(20), mostBytes: 0 }))).toEqual(['f'])
  })
})

describe('retention rules of the configuration', () => {
  const records = [
    archive('a', 'a', 1, 1, { project: '/a' }),
    archive('b', 'b', 1, 1, { project: '/b' }),
    archive('n', 'n', 1, 1, { project: null }),
  ]
  const rounds = (rules: Record<string, { keepDays: number | null; keepBytes: number | null }>) =>
    configuredRetentions(
      records,
      (project) => rules[project ?? 'all'] ?? rules.all!,
      new Date('2026-03-11T00:00:00.000Z'),
    ).map(({ among, retention }) => [
      ids(records.filter(among)).join(' '),
      retention.olderThan?.slice(0, 10) ?? null,
      retention.mostBytes,
    ])

  test('the default configuration deletes nothing', () => {
    expect(rounds({ all: { keepDays: null, keepBytes: null } })).toEqual([])
  })

  test('a configured age applies per project, a configured size to all archives together', () => {
    expect(rounds({ all: { keepDays: 10, keepBytes: 500 } })).toEqual([
      ['a', '2026-03-01', null],
      ['b', '2026-03-01', null],
      ['n', '2026-03-01', null],
      ['a b n', null, 500],
    ])
  })

  test("a size limit in a project's own file applies to that project", () => {
    expect(rounds({ all: { keepDays: null, keepBytes: null }, '/b': { keepDays: 1, keepBytes: 7 } })).toEqual([
      ['b', '2026-03-10', 7],
    ])
  })
})
