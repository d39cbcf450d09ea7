import { describe, expect, test } from 'vitest'
import type { CompactionRecord } from '../contract/records/compaction.js'
import { AT, later, sampleBrief, sampleMessage, sampleSession } from './samples.cases.js'
import { type StorePlace, storeIn } from './store.cases.js'

function sample(sessionId: string, changes: Partial<CompactionRecord> = {}): CompactionRecord {
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

/** What every store must do with what is known of compactions. */
export function compactionCases(backend: string, newPlace: () => StorePlace): void {
  const inStore = storeIn(newPlace)
  describe(`${backend}: compactions`, () => {
    test(
      'are found by session and beginning, and listed oldest first',
      inStore((store) => {
        store.putCompaction(sample('s1', { startedAt: later(1000) }))
        store.putCompaction(sample('s1'))
        store.putCompaction(sample('s2'))
        expect(store.compactions('s1').map((one) => one.startedAt)).toEqual([AT, later(1000)])
        expect(store.compaction('s1', later(1000))?.startedAt).toBe(later(1000))
        expect(store.compaction('s2', later(1000))).toBeNull()
      }),
    )

    test(
      'are open until their facts are read or cannot be',
      inStore((store) => {
        for (const id of ['s1', 's2', 's3']) store.putCompaction(sample(id))
        store.putCompaction(sample('s1', { facts: [] }))
        store.putCompaction(sample('s2', { trouble: 'it is gone' }))
        expect(store.openCompactions().map((one) => one.sessionId)).toEqual(['s3'])
      }),
    )

    test(
      'are under way until their end is told, whatever is learned of them',
      inStore((store) => {
        for (const id of ['s1', 's2']) store.putCompaction(sample(id))
        store.endCompaction('s1', AT)
        store.putCompaction(sample('s1', { facts: [] }))
        expect(store.compacting()).toEqual(['s2'])
      }),
    )

    test(
      'forgetting a session removes its title, also where a later session inherited it with a brief',
      inStore((store) => {
        const title = { text: 'secret', by: 'request' as const }
        for (const id of ['s1', 's2', 's3']) store.putSession(sampleSession(id, { title }))
        store.putBrief(
          sampleBrief('b1', 1, { sessionId: 's1', status: 'used', usedBySessionId: 's2', title: 'secret' }),
        )
        store.forgetWords('s1')
        expect(['s1', 's2', 's3'].map((id) => store.session(id)!.title?.text ?? null)).toEqual([null, null, 'secret'])
        expect(store.brief('b1')!.title).toBeNull()
      }),
    )

    test(
      'of one session can be forgotten, with every word of it that events and messages quote',
      inStore((store) => {
        for (const id of ['s1', 's2']) {
          store.putCompaction(sample(id))
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
        expect(store.forgetWords('s1')).toBe(4)
        expect(store.forgetWords('s1')).toBe(0)
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
