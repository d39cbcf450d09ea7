import { describe, expect, test } from 'vitest'
import type { CompactionRecord } from '../contract/records/compaction.js'
import { AT, later, sampleBrief, sampleMessage, sampleSession } from './samples.cases.js'
import { type StorePlace, withStore } from './store.cases.js'

function sampleCompaction(sessionId: string, changes: Partial<CompactionRecord> = {}): CompactionRecord {
  return {
    sessionId,
    startedAt: AT,
    trigger: 'auto',
    transcriptPath: null,
    bytes: 10,
    archiveId: null,
    sinceLine: 0,
    lines: 3,
    facts: null,
    trouble: null,
    loss: null,
    first: null,
    second: null,
    ...changes,
  }
}

/** Test cases for compactions that every store backend must pass. */
export function compactionCases(backend: string, newPlace: () => StorePlace): void {
  const inStore = withStore(newPlace)
  describe(`${backend}: compactions`, () => {
    test(
      'compactions are found by session and start time, and listed oldest first',
      inStore((store) => {
        store.putCompaction(sampleCompaction('s1', { startedAt: later(1000) }))
        store.putCompaction(sampleCompaction('s1'))
        store.putCompaction(sampleCompaction('s2'))
        expect(store.compactions('s1').map((one) => one.startedAt)).toEqual([AT, later(1000)])
        expect(store.compaction('s1', later(1000))?.startedAt).toBe(later(1000))
        expect(store.compaction('s2', later(1000))).toBeNull()
      }),
    )

    test(
      'a compaction is open until its facts are read or cannot be read',
      inStore((store) => {
        for (const id of ['s1', 's2', 's3']) store.putCompaction(sampleCompaction(id))
        store.putCompaction(sampleCompaction('s1', { facts: [] }))
        store.putCompaction(sampleCompaction('s2', { trouble: 'it is gone' }))
        expect(store.openCompactions().map((one) => one.sessionId)).toEqual(['s3'])
      }),
    )

    test(
      'a compaction is under way until its end is reported, even if its record is updated before',
      inStore((store) => {
        for (const id of ['s1', 's2']) store.putCompaction(sampleCompaction(id))
        store.endCompaction('s1', AT)
        store.putCompaction(sampleCompaction('s1', { facts: [] }))
        expect(store.compacting()).toEqual(['s2'])
      }),
    )

    test(
      "erasing a session's quotes removes its title, also where a later session inherited it with a brief",
      inStore((store) => {
        const title = { text: 'secret', by: 'request' as const }
        for (const id of ['s1', 's2', 's3']) store.putSession(sampleSession(id, { title }))
        store.putBrief(
          sampleBrief('b1', 1, { sessionId: 's1', status: 'used', usedBySessionId: 's2', title: 'secret' }),
        )
        store.eraseQuotes('s1')
        expect(['s1', 's2', 's3'].map((id) => store.session(id)!.title?.text ?? null)).toEqual([null, null, 'secret'])
        expect(store.brief('b1')!.title).toBeNull()
      }),
    )

    test(
      "erasing a session's quotes removes every conversation text from its compactions, events and messages",
      inStore((store) => {
        for (const id of ['s1', 's2']) {
          store.putCompaction(sampleCompaction(id))
          const common = { at: AT, session_id: id, seat_id: 'seat_1', job_id: null }
          store.addEvent({
            ...common,
            type: 'loss_report',
            data: { facts: 3, lost: [{ kind: 'request', text: 'secret' }] },
          })
          store.addEvent({ ...common, type: 'compaction_complete', data: { outcome: 'completed', summary: 'secret' } })
          store.addEvent({ ...common, type: 'session_ended', data: { reason: 'other' } })
          store.putMessage(sampleMessage(`m_${id}`, { session_id: id, category: 'recovery', agent_text: 'secret' }))
          store.putMessage(sampleMessage(`w_${id}`, { session_id: id, category: 'context', agent_text: 'a warning' }))
        }
        expect(store.eraseQuotes('s1')).toBe(4)
        expect(store.eraseQuotes('s1')).toBe(0)
        expect([store.compactions('s1').length, store.compactions('s2').length]).toEqual([0, 1])
        const of = (id: string) =>
          JSON.stringify([store.events({ sessionId: id }), store.messages().filter((m) => m.session_id === id)])
        expect(of('s1')).not.toContain('secret')
        expect(of('s2').match(/secret/g)).toHaveLength(3)
        expect(store.events({ sessionId: 's1' }).map(({ type, data }) => [type, data.forgotten ?? null])).toEqual([
          ['loss_report', true],
          ['compaction_complete', true],
          ['session_ended', null],
        ])
        const [recovery, warning] = store.messages().filter((m) => m.session_id === 's1')
        expect(recovery).toMatchObject({ status: 'cancelled', agent_text: null })
        expect(warning).toMatchObject({ status: 'queued', agent_text: 'a warning' })
      }),
    )
  })
}
