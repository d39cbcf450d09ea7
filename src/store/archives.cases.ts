import { describe, expect, test } from 'vitest'
import type { ArchiveRecord, SegmentRecord } from '../contract/records/archive.js'
import { later } from './samples.cases.js'
import { type StorePlace, withStore } from './store.cases.js'

export function sampleArchive(archiveId: string, changes: Partial<ArchiveRecord> = {}): ArchiveRecord {
  return {
    archiveId,
    sessionId: 's1',
    agent: 'claude-code',
    project: '/home/ü/shöp',
    trigger: 'auto',
    createdAt: later(0),
    stem: `stem of ${archiveId}`,
    status: 'kept',
    reason: null,
    attempts: 1,
    retryAt: null,
    lease: null,
    indexed: true,
    parts: [
      { name: '', path: '/t "1".jsonl', bytes: 7, mark: 'm', link: null, streamId: 'st1', sha256: 'aa', trouble: null },
      {
        name: 'agent-ä',
        path: '/a',
        bytes: 0,
        mark: '',
        link: 'l',
        streamId: null,
        sha256: null,
        trouble: 'unreadable',
      },
    ],
    ...changes,
  }
}

export function sampleSegment(streamId: string, from: number, to: number, sessionId = 's1'): SegmentRecord {
  const file = `${streamId}-${from}.jsonl.br`
  return { streamId, sessionId, name: '', from, to, file, storedBytes: 3, sha256: 'bb', blocks: [2, 1], blockBytes: 4 }
}

/** Test cases for archives that every store backend must pass. */
export function archiveCases(backend: string, newPlace: () => StorePlace): void {
  const inStore = withStore(newPlace)
  const ids = (records: ArchiveRecord[]): string[] => records.map(({ archiveId }) => archiveId)

  describe(`${backend}: archives`, () => {
    test(
      'an archive comes back complete, also after reopening the store, and putting it again replaces it',
      inStore((store, place) => {
        store.putArchive(sampleArchive('a1'))
        store.putArchive(sampleArchive('a1', { reason: 'none', lease: { pid: 4, startedAt: '9' } }))
        const other = place.open()
        expect(other.archive('a1')).toEqual(sampleArchive('a1', { reason: 'none', lease: { pid: 4, startedAt: '9' } }))
        expect(other.archive('A1')).toBeNull()
        other.close()
        store.dropArchive('a1')
        expect(store.archive('a1')).toBeNull()
      }),
    )

    test(
      'archives are listed oldest first, by session and by project',
      inStore((store) => {
        store.putArchive(sampleArchive('a2', { createdAt: later(2) }))
        store.putArchive(sampleArchive('a1', { createdAt: later(1), sessionId: 's2' }))
        store.putArchive(sampleArchive('a3', { createdAt: later(3), project: null }))
        expect(ids(store.archives())).toEqual(['a1', 'a2', 'a3'])
        expect(ids(store.archives({ sessionId: 's1' }))).toEqual(['a2', 'a3'])
        expect(ids(store.archives({ project: '/home/ü/shöp' }))).toEqual(['a1', 'a2'])
        expect(ids(store.archives({ sessionId: 's2', project: '/nowhere' }))).toEqual([])
      }),
    )

    test(
      'two archives never share a file stem',
      inStore((store) => {
        store.putArchive(sampleArchive('a1', { stem: 'same' }))
        expect(() => store.putArchive(sampleArchive('a2', { stem: 'same' }))).toThrow()
        expect(ids(store.archives())).toEqual(['a1'])
      }),
    )

    test(
      'archives that are pending, may be retried or are not yet searchable count as open',
      inStore((store) => {
        store.putArchive(sampleArchive('done'))
        store.putArchive(sampleArchive('given up', { status: 'failed', reason: 'gone', indexed: false }))
        store.putArchive(sampleArchive('never searchable', { reason: 'damaged', indexed: false }))
        store.putArchive(sampleArchive('unsearchable', { indexed: false, createdAt: later(3) }))
        store.putArchive(
          sampleArchive('again', { status: 'failed', reason: 'full', retryAt: later(9), createdAt: later(2) }),
        )
        store.putArchive(sampleArchive('waiting', { status: 'pending', indexed: false, createdAt: later(1) }))
        expect(ids(store.openArchives())).toEqual(['waiting', 'again', 'unsearchable'])
        store.putArchive(sampleArchive('waiting', { createdAt: later(1) }))
        expect(ids(store.openArchives())).toEqual(['again', 'unsearchable'])
      }),
    )

    test(
      'segments are listed by byte offset, by stream and by session',
      inStore((store) => {
        store.putSegment(sampleSegment('st2', 0, 5, 's2'))
        store.putSegment(sampleSegment('st1', 10_000_000_000, 10_000_000_001))
        store.putSegment(sampleSegment('st1', 9, 10))
        expect(store.segments({ streamId: 'st1' }).map(({ from }) => from)).toEqual([9, 10_000_000_000])
        expect(store.segments({ sessionId: 's2' })).toEqual([sampleSegment('st2', 0, 5, 's2')])
        store.dropSegment('st1-9.jsonl.br')
        expect(store.segments().map(({ file }) => file)).toEqual(['st1-10000000000.jsonl.br', 'st2-0.jsonl.br'])
      }),
    )

    test(
      'a stream never has two segments for the same bytes',
      inStore((store) => {
        store.putSegment(sampleSegment('st1', 0, 5))
        store.putSegment({ ...sampleSegment('st1', 0, 9), file: 'other' })
        expect(store.segments({ streamId: 'st1' })).toHaveLength(1)
      }),
    )

    test(
      'each leftover file is recorded once until it is removed',
      inStore((store) => {
        store.putLeftover('file b')
        store.putLeftover('file a')
        store.putLeftover('file a')
        expect(store.leftovers()).toEqual(['file a', 'file b'])
        store.dropLeftover('file a')
        expect(store.leftovers()).toEqual(['file b'])
      }),
    )

    test(
      'a failed transaction leaves archives unchanged',
      inStore((store) => {
        store.putArchive(sampleArchive('a1'))
        expect(() =>
          store.transaction(() => {
            store.dropArchive('a1')
            store.putSegment(sampleSegment('st1', 0, 5))
            store.putLeftover('x')
            throw new Error('no')
          }),
        ).toThrow('no')
        expect([ids(store.archives()), store.segments(), store.leftovers()]).toEqual([['a1'], [], []])
      }),
    )
  })
}
