import { describe, expect, test } from 'vitest'
import {
  AT,
  later,
  readingEvent,
  sampleEvent,
  sampleMessage,
  sampleReading,
  sampleSeat,
  sampleSession,
  sampleSubagent,
} from './samples.cases.js'
import type { Store } from './store.js'

/**
 * Location of the store of one test.
 * The store can be opened several times, as several processes would.
 */
export interface StorePlace {
  open(): Store
  remove(): void
}

const DAY = 24 * 3_600_000

/** Returns a wrapper that runs a case in a new store. */
export function withStore(newPlace: () => StorePlace): (work: (store: Store, place: StorePlace) => void) => () => void {
  return (work) => () => {
    const place = newPlace()
    try {
      const store = place.open()
      work(store, place)
      store.close()
    } finally {
      place.remove()
    }
  }
}

/** Test cases that every store backend must pass. */
export function storeCases(backend: string, newPlace: () => StorePlace): void {
  const inStore = withStore(newPlace)

  describe(`${backend}: sessions, seats and readings`, () => {
    test(
      'a session comes back complete, and an unknown id gives null',
      inStore((store) => {
        const record = sampleSession('s1')
        store.putSession(record)
        expect(store.session('s1')).toEqual(record)
        expect(store.session('S1')).toBeNull()
        expect(store.session('')).toBeNull()
      }),
    )

    test(
      'active sessions are found regardless of when they were seen, ended ones by when they were seen',
      inStore((store) => {
        store.putSession(sampleSession('old-over', { state: 'ended', seenAt: later(0) }))
        store.putSession(sampleSession('old-going', { state: 'idle', seenAt: later(0) }))
        store.putSession(sampleSession('over', { state: 'unknown', seenAt: later(2000) }))
        store.putSession(sampleSession('going', { state: 'working', seenAt: later(3000), project: '/other' }))
        const ids = (query: Parameters<Store['sessions']>[0]) => store.sessions(query).map((s) => s.sessionId)
        expect(ids({ seenSince: later(1000), active: 'also' })).toEqual(['going', 'over', 'old-going'])
        expect(ids({ active: 'only' })).toEqual(['going', 'old-going'])
        expect(ids({ seenSince: later(1000), active: 'also', project: '/other' })).toEqual(['going'])
        expect(store.seenSince(later(1000)).sort()).toEqual(['going', 'over'])
        store.putSession(sampleSession('going', { state: 'ended', seenAt: later(4000) }))
        store.putSession(sampleSession('old-over', { state: 'working', seenAt: later(5000) }))
        expect(ids({ active: 'only' })).toEqual(['old-over', 'old-going'])
        expect(store.seenSince(later(4000)).sort()).toEqual(['going', 'old-over'])
      }),
    )

    test(
      'stored records survive closing and reopening',
      inStore((first, place) => {
        first.putSession(sampleSession('s1'))
        first.putSeat(sampleSeat('seat_1', { name: 'builder' }))
        first.addEvent(sampleEvent('session_started'))
        first.setSwitch('all', '', false, AT)
        first.close()
        const again = place.open()
        expect(again.session('s1')).toEqual(sampleSession('s1'))
        expect(again.seatByName('builder')?.seatId).toBe('seat_1')
        expect(again.events()).toHaveLength(1)
        expect(again.nearestSwitch('s1', null)).toBe(false)
        again.close()
        first.close = () => {}
      }),
    )

    test(
      'putting a session again replaces it and moves it to its new seat and project',
      inStore((store) => {
        store.putSession(sampleSession('s1'))
        store.putSession(sampleSession('s1', { seatId: 'seat_2', project: '/other', state: 'ended' }))
        expect(store.session('s1')?.state).toBe('ended')
        expect(store.chain('seat_1')).toEqual([])
        expect(store.chain('seat_2').map((s) => s.sessionId)).toEqual(['s1'])
        expect(store.sessions({ project: '/home/ü/shöp' })).toEqual([])
        expect(store.sessions({ project: '/other' })).toHaveLength(1)
        expect(store.sizes().sessions).toBe(1)
      }),
    )

    test(
      'sessions are listed newest first, by project and by when they were seen',
      inStore((store) => {
        store.putSession(sampleSession('old', { seenAt: later(0) }))
        store.putSession(sampleSession('new', { seenAt: later(2000) }))
        store.putSession(sampleSession('mid', { seenAt: later(1000), project: null }))
        const ids = (query?: Parameters<Store['sessions']>[0]) => store.sessions(query).map((s) => s.sessionId)
        expect(ids()).toEqual(['new', 'mid', 'old'])
        expect(ids({ seenSince: later(1000) })).toEqual(['new', 'mid'])
        expect(ids({ project: '/home/ü/shöp' })).toEqual(['new', 'old'])
        expect(ids({ project: '/nowhere' })).toEqual([])
      }),
    )

    test(
      "a seat's chain is in the order in which its sessions started, not in which they were last seen",
      inStore((store) => {
        store.putSession(sampleSession('b', { startedAt: later(2000), seenAt: later(3000) }))
        store.putSession(sampleSession('a', { startedAt: later(1000), seenAt: later(9000) }))
        store.putSession(sampleSession('z', { seatId: 'seat_9' }))
        expect(store.chain('seat_1').map((s) => s.sessionId)).toEqual(['a', 'b'])
      }),
    )

    test(
      'seats are found by id, name and process, and a reused pid is another process',
      inStore((store) => {
        const process = { pid: 77, startedAt: 'boot+1' }
        store.putSeat(sampleSeat('seat_a', { name: 'builder', parentSeatId: 'seat_p', process }))
        store.putSeat(sampleSeat('seat_b'))
        expect(store.seat('seat_a')).toEqual(sampleSeat('seat_a', { name: 'builder', parentSeatId: 'seat_p', process }))
        expect(store.seat('seat_b')).toEqual(sampleSeat('seat_b'))
        expect(store.seatByName('builder')?.seatId).toBe('seat_a')
        expect(store.seatByName('Builder')).toBeNull()
        expect(store.seatOfProcess(77, 'boot+1')?.seatId).toBe('seat_a')
        expect(store.seatOfProcess(77, 'boot+2')).toBeNull()
        store.putSeat(sampleSeat('seat_a', { name: 'builder', process: null }))
        expect(store.seatOfProcess(77, 'boot+1')).toBeNull()
      }),
    )

    test(
      'two seats never share a name',
      inStore((store) => {
        store.putSeat(sampleSeat('seat_a', { name: 'builder' }))
        expect(() => store.putSeat(sampleSeat('seat_b', { name: 'builder' }))).toThrow()
        store.putSeat(sampleSeat('seat_c'))
        store.putSeat(sampleSeat('seat_d'))
        expect(store.seat('seat_d')?.name).toBeNull()
      }),
    )

    test(
      'the newest seat of a process is found',
      inStore((store) => {
        const process = { pid: 77, startedAt: '1' }
        store.putSeat(sampleSeat('seat_new', { process, createdAt: later(10) }))
        store.putSeat(sampleSeat('seat_old', { process, createdAt: later(0) }))
        expect(store.seatOfProcess(77, '1')?.seatId).toBe('seat_new')
      }),
    )

    test(
      'subagents belong to their session alone',
      inStore((store) => {
        store.putSubagent(sampleSubagent('s1', 'a2', 100))
        store.putSubagent(sampleSubagent('s1', 'a1', null))
        store.putSubagent(sampleSubagent('s2', 'a1', 7))
        store.putSubagent(sampleSubagent('s1', 'a2', 200))
        expect(store.subagents('s1')).toEqual([sampleSubagent('s1', 'a1', null), sampleSubagent('s1', 'a2', 200)])
        expect(store.subagents('nobody')).toEqual([])
      }),
    )

    test(
      'readings keep their order, nulls and exactness, and a limit keeps the newest',
      inStore((store) => {
        const known = { window: 1_000_000, point: 967_000, model: 'm', source: 'mod', exact: true, cycle: 3 } as const
        store.addEvent(readingEvent(sampleReading('s1', 10)))
        store.addEvent(readingEvent(sampleReading('s1', 20, known)))
        store.addEvent(readingEvent(sampleReading('s2', 5)))
        store.addEvent(readingEvent(sampleReading('s1', 15)))
        expect(store.readings('s1')).toEqual([
          sampleReading('s1', 10),
          sampleReading('s1', 20, known),
          sampleReading('s1', 15),
        ])
        expect(store.readings('s1', 2).map((r) => r.used)).toEqual([20, 15])
      }),
    )
  })

  describe(`${backend}: events`, () => {
    test(
      'event ids rise strictly, also across closing and reopening',
      inStore((store, place) => {
        const ids = [1, 2, 3].map(() => store.addEvent(sampleEvent('reading')).id)
        const other = place.open()
        ids.push(other.addEvent(sampleEvent('reading')).id)
        other.close()
        ids.push(store.addEvent(sampleEvent('reading')).id)
        expect(ids).toEqual([...ids].sort((a, b) => a - b))
        expect(new Set(ids).size).toBe(5)
        expect(store.events().map((e) => e.id)).toEqual(ids)
      }),
    )

    test(
      'an event comes back as it was added',
      inStore((store) => {
        const told = store.addEvent(sampleEvent('level_crossed', { session_id: null, seat_id: null, job_id: 'job_1' }))
        expect(store.events()).toEqual([told])
        expect(told.data).toEqual({ deep: [{ ö: null }] })
      }),
    )

    test(
      'a limit returns the oldest events after an id, or the newest without one, always by ascending id',
      inStore((store) => {
        const ids = [0, 1, 2, 3, 4].map((n) => store.addEvent(sampleEvent('reading', { at: later(n) })).id)
        const found = (query: Parameters<Store['events']>[0]) => store.events(query).map((e) => e.id)
        expect(found({ afterId: ids[0]!, limit: 2 })).toEqual([ids[1], ids[2]])
        expect(found({ limit: 2 })).toEqual([ids[3], ids[4]])
        expect(found({ afterId: 0 })).toEqual(ids)
        expect(found({ afterId: ids[4]! })).toEqual([])
        expect(found({ since: later(3) })).toEqual([ids[3], ids[4]])
      }),
    )

    test(
      'a query can return only the newest reading of each session, or no readings',
      inStore((store) => {
        const add = (type: 'reading' | 'level_crossed', session_id: string) =>
          store.addEvent(sampleEvent(type, { session_id })).id
        const [, b, level, c, other] = [
          add('reading', 's1'),
          add('reading', 's1'),
          add('level_crossed', 's1'),
          add('reading', 's1'),
          add('reading', 's2'),
        ]
        const found = (query: Parameters<Store['events']>[0]) =>
          store.events({ ...query, readings: 'newest' }).map((e) => e.id)
        expect(found({ afterId: 0 })).toEqual([level, c, other])
        expect(found({ afterId: b!, limit: 2 })).toEqual([level, c])
        expect(found({ afterId: c! })).toEqual([other])
        expect(found({ sessionId: 's1' })).toEqual([level, c])
        expect(store.events({ readings: 'none', limit: 2 }).map((e) => e.id)).toEqual([level])
      }),
    )

    test(
      'a query for one session returns only its events',
      inStore((store) => {
        const mine = store.addEvent(sampleEvent('reading', { session_id: 's1' }))
        store.addEvent(sampleEvent('reading', { session_id: 's10' }))
        store.addEvent(sampleEvent('reading', { session_id: null }))
        expect(store.events({ sessionId: 's1' })).toEqual([mine])
        expect(store.events({ sessionId: 's1', afterId: mine.id })).toEqual([])
      }),
    )

    test(
      'an event id is never reused after its event was deleted',
      inStore((store) => {
        const first = store.addEvent(sampleEvent('reading'))
        store.deleteOldRows(new Date(Date.parse(AT) + 30 * DAY))
        expect(store.addEvent(sampleEvent('reading')).id).toBeGreaterThan(first.id)
      }),
    )
  })

  describe(`${backend}: messages and switches`, () => {
    test(
      'queued and sent messages are open, oldest first, and every message stays listed',
      inStore((store) => {
        store.putMessage(sampleMessage('m2', { queued_at: later(2) }))
        store.putMessage(sampleMessage('m1', { queued_at: later(1), status: 'sent' }))
        store.putMessage(sampleMessage('m3', { queued_at: later(3), status: 'delivered' }))
        store.putMessage(sampleMessage('m4', { queued_at: later(4), status: 'cancelled' }))
        store.putMessage(sampleMessage('m5', { queued_at: later(5), seat_id: 'seat_2' }))
        expect(store.openMessages('seat_1').map((m) => m.message_id)).toEqual(['m1', 'm2'])
        expect(store.messages({ seatId: 'seat_1' }).map((m) => m.message_id)).toEqual(['m1', 'm2', 'm3', 'm4'])
        expect(store.messages({ limit: 2 }).map((m) => m.message_id)).toEqual(['m4', 'm5'])
        expect([store.message('m4'), store.message('M4')]).toEqual([
          sampleMessage('m4', { queued_at: later(4), status: 'cancelled' }),
          null,
        ])
      }),
    )

    test(
      'open messages of the same moment keep their order of arrival, also after one was sent and queued again',
      inStore((store) => {
        for (const id of ['z', 'a', 'm']) store.putMessage(sampleMessage(id, { queued_at: AT }))
        store.putMessage(sampleMessage('z', { queued_at: AT, status: 'sent' }))
        store.putMessage(sampleMessage('z', { queued_at: AT }))
        expect(store.openMessages('seat_1').map((m) => m.message_id)).toEqual(['z', 'a', 'm'])
      }),
    )

    test(
      'a delivered message keeps its text and is no longer open',
      inStore((store) => {
        const told = sampleMessage('m1')
        store.putMessage(told)
        store.putMessage({ ...told, status: 'delivered', delivered_at: later(9), repeated: true })
        expect(store.openMessages('seat_1')).toEqual([])
        expect(store.messages()).toEqual([{ ...told, status: 'delivered', delivered_at: later(9), repeated: true }])
      }),
    )

    test(
      'only the first caller can claim a signal',
      inStore((store, place) => {
        const other = place.open()
        expect(store.claimOnce('signal', AT)).toBe(true)
        expect(other.claimOnce('signal', AT)).toBe(false)
        expect(store.claimOnce('signal', AT)).toBe(false)
        expect(other.claimOnce('another', AT)).toBe(true)
        other.close()
      }),
    )

    test(
      'a signal whose transaction failed can be claimed again',
      inStore((store) => {
        const failing = () => {
          store.claimOnce('signal', AT)
          throw new Error('no')
        }
        expect(() => store.transaction(failing)).toThrow('no')
        expect(store.claimOnce('signal', AT)).toBe(true)
      }),
    )

    test(
      'the most specific switch decides: session, then project, then all',
      inStore((store) => {
        expect(store.nearestSwitch('s1', '/p')).toBeNull()
        store.setSwitch('all', '', false, AT)
        expect(store.nearestSwitch('s1', '/p')).toBe(false)
        store.setSwitch('project', '/p', true, AT)
        expect(store.nearestSwitch('s1', '/p')).toBe(true)
        expect(store.nearestSwitch('s1', '/q')).toBe(false)
        expect(store.nearestSwitch('s1', null)).toBe(false)
        store.setSwitch('session', 's1', false, AT)
        expect(store.nearestSwitch('s1', '/p')).toBe(false)
        expect(store.nearestSwitch('s2', '/p')).toBe(true)
        store.setSwitch('session', 's1', true, AT)
        expect(store.switchState('session', 's1')).toBe(true)
        expect(store.switchState('session', '/p')).toBeNull()
      }),
    )
  })
}
