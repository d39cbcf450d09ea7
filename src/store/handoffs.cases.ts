import { describe, expect, test } from 'vitest'
import { HANDOFF_STATES } from '../contract/records/handoff.js'
import { AT, later, sampleBrief, sampleHandoff } from './samples.cases.js'
import { type StorePlace, withStore } from './store.cases.js'

/** Test cases for briefs that every store backend must pass. */
export function briefCases(backend: string, newPlace: () => StorePlace): void {
  const inStore = withStore(newPlace)
  const idsOf = (found: { briefId: string }[]) => found.map(({ briefId }) => briefId)

  describe(`${backend}: briefs`, () => {
    test(
      'a brief comes back complete, and an unknown id gives null',
      inStore((store) => {
        const record = sampleBrief('b1', 1)
        store.putBrief(record)
        expect(store.brief('b1')).toEqual(record)
        expect(store.brief('B1')).toBeNull()
        const used = { ...record, status: 'used', usedAt: later(5), usedBySessionId: 's2', coverage: null } as const
        store.putBrief(used)
        expect([store.brief('b1'), store.briefs()]).toEqual([used, [used]])
      }),
    )

    test(
      'briefs are listed oldest first, by seat and by session, and a limit keeps the newest',
      inStore((store) => {
        store.putBrief(sampleBrief('b3', 3, { takenAt: later(3), sessionId: 's2' }))
        store.putBrief(sampleBrief('b1', 1, { takenAt: later(1) }))
        store.putBrief(sampleBrief('other', 1, { takenAt: later(0), seatId: 'seat_2', sessionId: 's9' }))
        store.putBrief(sampleBrief('b2', 2, { takenAt: later(2) }))
        expect(idsOf(store.briefs())).toEqual(['other', 'b1', 'b2', 'b3'])
        expect(idsOf(store.briefs({ limit: 2 }))).toEqual(['b2', 'b3'])
        expect(idsOf(store.briefs({ seatId: 'seat_1' }))).toEqual(['b1', 'b2', 'b3'])
        expect(idsOf(store.briefs({ seatId: 'seat_1', limit: 1 }))).toEqual(['b3'])
        expect(idsOf(store.briefs({ sessionId: 's1' }))).toEqual(['b1', 'b2'])
        expect(idsOf(store.briefs({ sessionId: 's1', limit: 1 }))).toEqual(['b2'])
        expect(idsOf(store.briefs({ seatId: 'seat_1', sessionId: 's2' }))).toEqual(['b3'])
        expect(store.briefs({ seatId: 'seat_2', sessionId: 's2' })).toEqual([])
        expect([store.briefs({ seatId: 'nobody' }), store.briefs({ limit: 0 })]).toEqual([[], []])
      }),
    )

    test(
      'briefs used by a session are found across seats, in the order the session received them',
      inStore((store) => {
        store.putBrief(sampleBrief('b1', 1, { status: 'used', usedAt: later(9), usedBySessionId: 's5' }))
        store.putBrief(
          sampleBrief('b2', 1, {
            seatId: 'seat_2',
            status: 'used',
            usedAt: later(8),
            usedBySessionId: 's5',
            takenAt: later(3),
          }),
        )
        store.putBrief(sampleBrief('b3', 2, { sessionId: 's5' }))
        expect(idsOf(store.briefsUsedBy('s5'))).toEqual(['b2', 'b1'])
        expect(store.briefsUsedBy('s1')).toEqual([])
      }),
    )

    test(
      'briefs of one seat are ordered by sequence even if the clock was set back, others by arrival',
      inStore((store) => {
        store.putBrief(sampleBrief('first', 1, { takenAt: later(1000) }))
        store.putBrief(sampleBrief('second', 2, { takenAt: later(0) }))
        expect(idsOf(store.briefs({ seatId: 'seat_1' }))).toEqual(['first', 'second'])
        store.putBrief(sampleBrief('z', 1, { seatId: 'seat_2', sessionId: 's2', takenAt: AT }))
        store.putBrief(sampleBrief('a', 2, { seatId: 'seat_2', sessionId: 's2', takenAt: AT }))
        expect(idsOf(store.briefs({ sessionId: 's2' }))).toEqual(['z', 'a'])
      }),
    )

    test(
      'two briefs of one seat never have the same sequence',
      inStore((store) => {
        store.putBrief(sampleBrief('b1', 1))
        expect(() => store.putBrief(sampleBrief('b2', 1))).toThrow()
        store.putBrief(sampleBrief('b3', 1, { seatId: 'seat_2' }))
        store.putBrief(sampleBrief('b2', 2))
        expect(() => store.putBrief(sampleBrief('b2', 1))).toThrow()
        expect(store.brief('b2')?.sequence).toBe(2)
        expect([store.nextBriefSequence('seat_1'), store.nextBriefSequence('seat_2')]).toEqual([3, 2])
        expect(store.nextBriefSequence('seat_9')).toBe(1)
      }),
    )

    test(
      'the briefs of a session can be deleted, and the sequence continues after them',
      inStore((store) => {
        store.putBrief(sampleBrief('b1', 1))
        store.putBrief(sampleBrief('b2', 2, { sessionId: 's2' }))
        store.putBrief(sampleBrief('b3', 3, { sessionId: 's2' }))
        store.dropBriefs('s2')
        store.dropBriefs('nobody')
        expect(idsOf(store.briefs())).toEqual(['b1'])
        expect(store.nextBriefSequence('seat_1')).toBe(4)
        store.putBrief(sampleBrief('b4', 4))
        store.dropBriefs('s1')
        store.dropBriefs('s1')
        expect([store.briefs(), store.nextBriefSequence('seat_1')]).toEqual([[], 5])
      }),
    )
  })
}

/** Test cases for handoffs that every store backend must pass. */
export function handoffCases(backend: string, newPlace: () => StorePlace): void {
  const inStore = withStore(newPlace)
  const idsOf = (found: { handoffId: string }[]) => found.map(({ handoffId }) => handoffId)

  describe(`${backend}: handoffs`, () => {
    test(
      'a handoff comes back complete, and an unknown id gives null',
      inStore((store) => {
        const record = sampleHandoff('h1', { dueAt: later(9), way: 'tmux', orderId: 'o1' })
        store.putHandoff(record)
        expect(store.handoff('h1')).toEqual(record)
        expect(store.handoff('h2')).toBeNull()
      }),
    )

    test(
      'handoffs are listed oldest first, by seat and by session, and a limit keeps the newest',
      inStore((store) => {
        store.putHandoff(sampleHandoff('h2', { requestedAt: later(2), sessionId: 's2' }))
        store.putHandoff(sampleHandoff('h1', { requestedAt: later(1), state: 'done' }))
        store.putHandoff(sampleHandoff('other', { requestedAt: later(0), seatId: 'seat_2', sessionId: 's9' }))
        store.putHandoff(sampleHandoff('again', { requestedAt: later(2) }))
        expect(idsOf(store.handoffs())).toEqual(['other', 'h1', 'h2', 'again'])
        expect(idsOf(store.handoffs({ limit: 2 }))).toEqual(['h2', 'again'])
        expect(idsOf(store.handoffs({ seatId: 'seat_1' }))).toEqual(['h1', 'h2', 'again'])
        expect(idsOf(store.handoffs({ seatId: 'seat_1', limit: 1 }))).toEqual(['again'])
        expect(idsOf(store.handoffs({ sessionId: 's1' }))).toEqual(['h1', 'again'])
        expect(idsOf(store.handoffs({ seatId: 'seat_1', sessionId: 's2' }))).toEqual(['h2'])
        expect(store.handoffs({ seatId: 'seat_2', sessionId: 's2' })).toEqual([])
      }),
    )

    test(
      'handoffs are open in every state except done, failed and cancelled',
      inStore((store) => {
        for (const [n, state] of HANDOFF_STATES.entries())
          store.putHandoff(sampleHandoff(state, { state, seatId: `seat_${state}`, requestedAt: later(n) }))
        const open = HANDOFF_STATES.filter((state) => !['done', 'failed', 'cancelled'].includes(state))
        expect(idsOf(store.openHandoffs())).toEqual(open)
        expect(HANDOFF_STATES.filter((state) => store.openHandoffs({ seatId: `seat_${state}` }).length === 1)).toEqual(
          open,
        )
      }),
    )

    test(
      'the open handoffs of a seat are listed oldest first, including those another process wrote',
      inStore((store, place) => {
        const other = place.open()
        const open = () => store.transaction(() => idsOf(store.openHandoffs({ seatId: 'seat_1' })))
        expect(open()).toEqual([])
        other.putHandoff(sampleHandoff('h2', { requestedAt: later(2) }))
        other.putHandoff(sampleHandoff('h1', { requestedAt: later(1) }))
        other.putHandoff(sampleHandoff('theirs', { seatId: 'seat_2' }))
        expect(open()).toEqual(['h1', 'h2'])
        store.putHandoff(sampleHandoff('h1', { requestedAt: later(1), state: 'cancelled' }))
        expect(open()).toEqual(['h2'])
        const closing = store.transaction(() => {
          const before = idsOf(store.openHandoffs({ seatId: 'seat_1' }))
          store.putHandoff(sampleHandoff('h2', { requestedAt: later(2), state: 'done' }))
          return [before, idsOf(store.openHandoffs({ seatId: 'seat_1' }))]
        })
        expect(closing).toEqual([['h2'], []])
        other.close()
      }),
    )

    test(
      'the cache forgets changes that a failed transaction made to a handoff',
      inStore((store) => {
        store.putHandoff(sampleHandoff('h1'))
        const failing = () => {
          store.putHandoff(sampleHandoff('h1', { state: 'done' }))
          expect(store.openHandoffs({ seatId: 'seat_1' })).toEqual([])
          throw new Error('no')
        }
        expect(() => store.transaction(failing)).toThrow('no')
        expect(store.transaction(() => idsOf(store.openHandoffs({ seatId: 'seat_1' })))).toEqual(['h1'])
      }),
    )

    test(
      'open handoffs are due from their due time on, the longest overdue first',
      inStore((store) => {
        store.putHandoff(sampleHandoff('later', { dueAt: later(3000) }))
        store.putHandoff(sampleHandoff('now', { dueAt: later(2000), state: 'review' }))
        store.putHandoff(sampleHandoff('long', { dueAt: later(1000), requestedAt: later(500) }))
        store.putHandoff(sampleHandoff('never'))
        store.putHandoff(sampleHandoff('over', { dueAt: later(0), state: 'failed' }))
        expect(idsOf(store.dueHandoffs(later(1999)))).toEqual(['long'])
        expect(idsOf(store.dueHandoffs(later(2000)))).toEqual(['long', 'now'])
        store.putHandoff(sampleHandoff('long', { dueAt: null }))
        store.putHandoff(sampleHandoff('now', { dueAt: later(2000), state: 'done' }))
        expect(store.dueHandoffs(later(2000))).toEqual([])
        expect(idsOf(store.dueHandoffs(later(9000)))).toEqual(['later'])
      }),
    )
  })
}
