import { describe, expect, test } from 'vitest'
import { later, sampleNotice } from './samples.cases.js'
import { type StorePlace, withStore } from './store.cases.js'

/** Test cases for notices that every store backend must pass. */
export function noticeCases(backend: string, newPlace: () => StorePlace): void {
  const inStore = withStore(newPlace)

  describe(`${backend}: notices`, () => {
    test(
      'a notice comes back complete, and an unknown id gives null',
      inStore((store) => {
        const notice = sampleNotice('n1')
        expect(store.addNotice(notice)).toBe(true)
        expect(store.notice('n1')).toEqual(notice)
        expect(store.notice('n2')).toBeNull()
      }),
    )

    test(
      'a second notice with the same id is not stored, and the first stays unchanged',
      inStore((store) => {
        store.addNotice(sampleNotice('n1', { state: 'sent', dueAt: null }))
        expect(store.addNotice(sampleNotice('n1'))).toBe(false)
        expect(store.notice('n1')).toMatchObject({ state: 'sent', dueAt: null })
      }),
    )

    test(
      'due notices are listed longest overdue first, and the time of the next one is known',
      inStore((store) => {
        expect([store.dueNotices(later(0)), store.nextNoticeAt()]).toEqual([[], null])
        store.addNotice(sampleNotice('over', { state: 'sent', dueAt: null }))
        store.addNotice(sampleNotice('later', { dueAt: later(5_000) }))
        store.addNotice(sampleNotice('sooner', { state: 'sending', dueAt: later(1_000) }))
        const due = (ms: number) => store.dueNotices(later(ms)).map(({ noticeId }) => noticeId)
        expect([due(999), due(1_000), due(5_000)]).toEqual([[], ['sooner'], ['sooner', 'later']])
        expect(store.nextNoticeAt()).toBe(later(1_000))
        store.putNotice(sampleNotice('sooner', { state: 'failed', dueAt: null }))
        expect([due(5_000), store.nextNoticeAt()]).toEqual([['later'], later(5_000)])
      }),
    )

    test(
      'the last notice to a target counts per kind while it is sent or was sent, but not if its sender died',
      inStore((store) => {
        const { target } = sampleNotice('n')
        const last = () => store.lastNoticeAt(target, 'permission', later(10))
        store.addNotice(sampleNotice('n1', { claimedAt: later(1) }))
        store.addNotice(sampleNotice('n2', { kind: 'job', state: 'sent', claimedAt: later(9), dueAt: null }))
        store.addNotice(
          sampleNotice('n3', { target: { ...target, everyMs: 1 }, state: 'sent', claimedAt: later(9), dueAt: null }),
        )
        expect(last()).toBeNull()
        store.addNotice(sampleNotice('n4', { state: 'sent', claimedAt: later(2), dueAt: null }))
        store.addNotice(sampleNotice('n5', { state: 'sending', claimedAt: later(3), dueAt: later(11) }))
        expect(last()).toBe(later(3))
        store.addNotice(sampleNotice('n6', { state: 'sending', claimedAt: later(4), dueAt: later(10) }))
        expect(last()).toBe(later(3))
      }),
    )

    test(
      'the last delivery to each target is known across kinds, and dropped notices do not count',
      inStore((store) => {
        const other = { ...sampleNotice('n').target, via: 'ntfy' as const }
        const over = (state: 'sent' | 'failed' | 'dropped', ms: number) => ({
          state,
          claimedAt: later(ms),
          dueAt: null,
        })
        store.addNotice(sampleNotice('a1', over('failed', 1)))
        store.addNotice(sampleNotice('a2', { ...over('sent', 3), kind: 'job' }))
        store.addNotice(sampleNotice('a3', over('dropped', 4)))
        store.addNotice(sampleNotice('b1', { ...over('sent', 4), target: other }))
        store.addNotice(sampleNotice('b2', { ...over('failed', 5), target: other }))
        expect(store.lastDeliveries().map(({ noticeId }) => noticeId)).toEqual(['b2', 'a2'])
      }),
    )

    test(
      'notices of plan limits are found while recent or not yet reset, without those of jobs',
      inStore((store) => {
        const limit = (id: string, ms: number, resetsAt: string | null, jobId: string | null = null) =>
          store.addNotice(
            sampleNotice(id, { kind: 'limit', at: later(ms), jobId, data: { resets_at: resetsAt, moment: 'reached' } }),
          )
        limit('recent', 10, null)
        limit('open', 0, later(20))
        limit('over', 0, later(9))
        limit('of-job', 10, later(20), 'job_1')
        store.addNotice(sampleNotice('other', { at: later(10), jobId: null }))
        expect(store.limitNotices(later(10)).map(({ noticeId }) => noticeId)).toEqual(['open', 'recent'])
      }),
    )

    test(
      'finished notices are deleted after a month, and unfinished ones stay',
      inStore((store) => {
        const month = 30 * 24 * 3_600_000
        store.addNotice(sampleNotice('over', { state: 'sent', dueAt: null }))
        store.addNotice(sampleNotice('open', { dueAt: later(2 * month) }))
        store.deleteOldRows(new Date(later(month)))
        expect(store.notice('over')).not.toBeNull()
        store.deleteOldRows(new Date(later(month + 1)))
        expect([store.notice('over'), store.notice('open')?.noticeId]).toEqual([null, 'open'])
      }),
    )
  })
}
