import { describe, expect, test } from 'vitest'
import type { Event } from '../../contract/records/event.js'
import { type LiveEvent, MIN_READING_INTERVAL_MS, makeCoalescer } from './view.js'

const event = (id: number, type: Event['type'] = 'level_crossed', session: string | null = 's1'): Event => ({
  id,
  type,
  at: '2026-11-16T12:00:00.000Z',
  session_id: session,
  seat_id: null,
  job_id: null,
  data: {},
})
const reading = (id: number, session = 's1'): Event => event(id, 'reading', session)
/** Lists ids of events: `7` for one sent with its id, `(7)` for one without. */
const idsOf = (sent: LiveEvent[]): string =>
  sent.map(({ event: { id }, withId }) => (withId ? `${id}` : `(${id})`)).join(' ')

describe('coalescing events', () => {
  test('all events except readings are passed on at once and in order', () => {
    const coalescer = makeCoalescer(0)
    expect(idsOf(coalescer.take([event(1), event(2, 'job_started', null), event(3)], 0))).toBe('1 2 3')
    expect(idsOf(coalescer.take([event(4)], 1))).toBe('4')
  })

  test('only the newest of several readings of a session is passed on', () => {
    const coalescer = makeCoalescer(0)
    expect(idsOf(coalescer.take([reading(1), reading(2, 's2'), reading(3), event(4), reading(5)], 0))).toBe('2 4 5')
  })

  test('a reading that comes too soon is held, replaced by a newer one, and passed on in time', () => {
    const coalescer = makeCoalescer(0)
    expect(idsOf(coalescer.take([reading(1)], 0))).toBe('1')
    expect(idsOf(coalescer.take([reading(2)], 100))).toBe('')
    expect(idsOf(coalescer.take([reading(3)], 150))).toBe('')
    expect(idsOf(coalescer.take([], MIN_READING_INTERVAL_MS - 1))).toBe('')
    expect(idsOf(coalescer.take([], MIN_READING_INTERVAL_MS))).toBe('3')
    expect(idsOf(coalescer.take([], 10_000))).toBe('')
  })

  test('a held reading sent after a newer event has no id, so that clients do not resume after it', () => {
    const coalescer = makeCoalescer(0)
    coalescer.take([reading(1)], 0)
    expect(idsOf(coalescer.take([reading(2), event(3)], 100))).toBe('3')
    expect(idsOf(coalescer.take([event(4)], 200))).toBe('(2) 4')
    expect(idsOf(coalescer.take([reading(5)], 400))).toBe('5')
  })

  test('readings of one session do not delay those of another', () => {
    const coalescer = makeCoalescer(0)
    coalescer.take([reading(1)], 0)
    expect(idsOf(coalescer.take([reading(2), reading(3, 's2')], 100))).toBe('3')
  })

  test('ten readings a second of fifty sessions become five each, and the last is always sent', () => {
    const coalescer = makeCoalescer(0)
    const sent = new Map<string, number[]>()
    let id = 0
    const newest = new Map<string, number>()
    for (let now = 0; now < 10_000; now += 100) {
      const batch = Array.from({ length: 50 }, (_, n) => reading(++id, `s${n}`))
      for (const one of batch) newest.set(one.session_id!, one.id)
      for (const { event: one } of coalescer.take(batch, now))
        sent.set(one.session_id!, [...(sent.get(one.session_id!) ?? []), one.id])
    }
    for (const { event: one } of coalescer.take([], 10_100)) sent.get(one.session_id!)!.push(one.id)
    for (const [session, ids] of sent) {
      expect(ids.length, session).toBeLessThanOrEqual(51)
      expect(new Set(ids).size, session).toBe(ids.length)
      expect(ids.at(-1), session).toBe(newest.get(session))
    }
  })
})
