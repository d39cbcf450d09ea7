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
import { type StorePlace, withStore } from './store.cases.js'
import { SHOWN_ONCE_PREFIX } from './store.js'

const DAY = 24 * 3_600_000

/**
 * Test cases for transactions and for the deletion of old rows that every store backend must pass.
 */
export function transactionCases(backend: string, newPlace: () => StorePlace): void {
  const inStore = withStore(newPlace)

  describe(`${backend}: transactions`, () => {
    test(
      'an exception from a transaction is rethrown, and all its writes are rolled back',
      inStore((store) => {
        store.putSession(sampleSession('s1'))
        const why = new Error('half way')
        const halfWay = () => {
          store.putSession(sampleSession('s1', { state: 'ended' }))
          store.putSeat(sampleSeat('seat_x'))
          store.addEvent(sampleEvent('reading'))
          store.addEvent(readingEvent(sampleReading('s1', 1)))
          store.putMessage(sampleMessage('m1'))
          store.setSwitch('all', '', false, AT)
          store.putSubagent(sampleSubagent('s1', 'a1', 1))
          throw why
        }
        expect(() => store.transaction(halfWay)).toThrow(why)
        expect(store.session('s1')?.state).toBe('working')
        expect(store.seat('seat_x')).toBeNull()
        expect([store.events(), store.readings('s1'), store.messages(), store.subagents('s1')]).toEqual([
          [],
          [],
          [],
          [],
        ])
        expect(store.switchState('all', '')).toBeNull()
        expect(store.transaction(() => store.addEvent(sampleEvent('reading')).type)).toBe('reading')
      }),
    )

    test(
      'a file that a transaction reads unlocked is read outside of it, and earlier writes happen once',
      inStore((store) => {
        const locked: boolean[] = []
        const read = (): string => {
          locked.push(store.inTransaction())
          return 'what the file says'
        }
        const result = store.transaction(() => {
          store.addEvent(sampleEvent('reading'))
          return store.readUnlocked('file', read)
        })
        expect([result, locked, store.events().length, store.inTransaction()]).toEqual([
          'what the file says',
          [false],
          1,
          false,
        ])
      }),
    )

    test('other connections can write during an unlocked read, which sees their writes', () => {
      const place = newPlace()
      const store = place.open()
      const other = place.open()
      try {
        const state = store.transaction(() => {
          store.readUnlocked('file', () => other.putSession(sampleSession('s1', { state: 'ended' })))
          return store.session('s1')?.state
        })
        expect(state).toBe('ended')
      } finally {
        store.close()
        other.close()
        place.remove()
      }
    })

    test(
      'a transaction that catches the unlocked-read exception is run again all the same',
      inStore((store) => {
        const trySome = (): string => {
          try {
            return store.readUnlocked('file', () => 'read')
          } catch {
            return 'failed'
          }
        }
        expect(store.transaction(trySome)).toBe('read')
      }),
    )

    test(
      'a preloaded result is not read again',
      inStore((store) => {
        let runs = 0
        const work = (): string => {
          runs++
          return store.readUnlocked('file', () => 'again')
        }
        expect(store.transaction(work, new Map([['file', 'ahead']]))).toBe('ahead')
        expect(runs).toBe(1)
      }),
    )

    test(
      'a transaction that needs another file each time fails after a limited number of runs and writes nothing',
      inStore((store) => {
        let runs = 0
        const work = (): string => {
          store.addEvent(sampleEvent('reading'))
          return store.readUnlocked(`file ${++runs}`, () => 'read')
        }
        expect(() => store.transaction(work)).toThrow('data changed')
        expect(runs).toBeLessThan(100)
        expect(store.events()).toEqual([])
      }),
    )

    test(
      'a nested transaction belongs to the outer one, so a failure of the outer one undoes both',
      inStore((store) => {
        const result = store.transaction(() => {
          store.putSeat(sampleSeat('outer'))
          return store.transaction(() => {
            store.putSeat(sampleSeat('inner'))
            return 42
          })
        })
        expect(result).toBe(42)
        expect([store.seat('outer'), store.seat('inner')]).not.toContain(null)
        const failing = () => {
          store.transaction(() => store.putSeat(sampleSeat('inner2')))
          throw new Error('late')
        }
        expect(() => store.transaction(failing)).toThrow('late')
        expect(store.seat('inner2')).toBeNull()
      }),
    )

    test(
      'other connections see nothing of an open transaction and everything of a committed one',
      inStore((store, place) => {
        const other = place.open()
        store.transaction(() => {
          store.putSeat(sampleSeat('seat_1'))
          expect(other.seat('seat_1')).toBeNull()
        })
        expect(other.seat('seat_1')).not.toBeNull()
        other.close()
      }),
    )

    test(
      'callbacks for the commit run once after it, and never after a failure',
      inStore((store, place) => {
        const other = place.open()
        const ran: string[] = []
        store.transaction(() => {
          store.putSeat(sampleSeat('seat_1'))
          store.transaction(() => store.afterCommit(() => ran.push(other.seat('seat_1') ? 'kept' : 'not yet')))
          expect(ran).toEqual([])
        })
        expect(ran).toEqual(['kept'])
        const failing = () => {
          store.afterCommit(() => ran.push('failed'))
          throw new Error('no')
        }
        expect(() => store.transaction(failing)).toThrow('no')
        store.transaction(() => {})
        store.afterCommit(() => ran.push('outside'))
        expect(ran).toEqual(['kept', 'outside'])
        other.close()
      }),
    )
  })

  describe(`${backend}: deleting old rows`, () => {
    const now = new Date(Date.parse(AT) + 8 * DAY)
    const minutesAfter = (minutes: number): string => later(minutes * 60_000)

    test(
      'readings older than a week are reduced to the last per hour and cycle, and newer ones all stay',
      inStore((store) => {
        const put = (used: number, minutes: number, cycle = 1, sessionId = 's1') =>
          store.addEvent(readingEvent(sampleReading(sessionId, used, { at: minutesAfter(minutes), cycle })))
        put(10, 0)
        put(20, 20)
        put(30, 59)
        put(40, 61)
        put(5, 30, 2)
        put(77, 1, 1, 's2')
        const recent = 7.5 * 24 * 60
        put(50, recent)
        put(60, recent + 1)
        expect(store.deleteOldRows(now)).toBe(2)
        expect(store.readings('s1').map((r) => r.used)).toEqual([30, 40, 5, 50, 60])
        expect(store.readings('s2').map((r) => r.used)).toEqual([77])
        expect(store.deleteOldRows(now)).toBe(0)
      }),
    )

    test(
      'only readings are deleted from the events, and no sessions, seats, messages or switches',
      inStore((store) => {
        store.putSession(sampleSession('s1'))
        store.putSeat(sampleSeat('seat_1'))
        store.putMessage(sampleMessage('m1'))
        store.setSwitch('all', '', false, AT)
        store.putSubagent(sampleSubagent('s1', 'a1', 1))
        for (const type of ['reading', 'level_crossed', 'compaction_complete', 'session_started'] as const)
          store.addEvent(sampleEvent(type))
        store.addEvent(sampleEvent('reading'))
        store.addEvent(sampleEvent('reading', { at: now.toISOString() }))
        expect(store.deleteOldRows(now)).toBe(1)
        expect(store.events().map((e) => e.type)).toEqual([
          'level_crossed',
          'compaction_complete',
          'session_started',
          'reading',
          'reading',
        ])
        expect(store.session('s1')).not.toBeNull()
        expect(store.seat('seat_1')).not.toBeNull()
        expect(store.messages()).toHaveLength(1)
        expect(store.subagents('s1')).toHaveLength(1)
        expect(store.nearestSwitch('s1', null)).toBe(false)
      }),
    )

    test(
      'the claim of a signal expires after a day',
      inStore((store) => {
        store.claimOnce('old', later(0))
        store.claimOnce('young', later(2 * 3_600_000))
        store.deleteOldRows(new Date(Date.parse(AT) + DAY + 3_600_000))
        expect(store.claimOnce('young', AT)).toBe(false)
        expect(store.claimOnce('old', AT)).toBe(true)
      }),
    )

    test(
      'the claim of a warning shown once expires after a year',
      inStore((store) => {
        store.claimOnce(`${SHOWN_ONCE_PREFIX}once`, AT)
        store.deleteOldRows(new Date(Date.parse(AT) + 300 * DAY))
        expect(store.claimOnce(`${SHOWN_ONCE_PREFIX}once`, AT)).toBe(false)
        store.deleteOldRows(new Date(Date.parse(AT) + 366 * DAY))
        expect(store.claimOnce(`${SHOWN_ONCE_PREFIX}once`, AT)).toBe(true)
      }),
    )

    test(
      'old rows can be deleted inside another transaction',
      inStore((store) => {
        for (let n = 0; n < 3; n++) store.addEvent(sampleEvent('reading'))
        expect(store.transaction(() => store.deleteOldRows(now))).toBe(2)
      }),
    )

    test(
      'event ids continue to rise after any deletion',
      inStore((store) => {
        for (let n = 0; n < 3; n++) store.addEvent(sampleEvent('reading'))
        const last = store.addEvent(readingEvent(sampleReading('s1', 1)))
        store.deleteOldRows(now)
        expect(store.addEvent(sampleEvent('session_ended')).id).toBeGreaterThan(last.id)
      }),
    )

    test(
      'sizes returns the number of stored rows',
      inStore((store) => {
        store.putSession(sampleSession('s1'))
        store.addEvent(readingEvent(sampleReading('s1', 1)))
        store.addEvent(readingEvent(sampleReading('s1', 2)))
        store.addEvent(sampleEvent('reading'))
        expect(store.sizes()).toMatchObject({ sessions: 1, readings: 3, events: 3, messages: 0 })
        expect(store.sizes().bytes).toBeGreaterThan(0)
      }),
    )
  })
}
