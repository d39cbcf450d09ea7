import type { Event } from '../../contract/event.js'

/** Between two readings of one session: at most five a second. */
export const READING_MS = 200
const FORGET_MS = 60_000

/** `withId`: a client that comes back may go on behind it. One that is told after a newer one has none. */
export interface Told {
  event: Event
  withId: boolean
}

export interface Coalescer {
  /** Takes what has happened since the last time, oldest first; gives what is to be told now, in that order. */
  take(events: readonly Event[], now: number): Told[]
}

/**
 * Everything is told, but of the readings of a session only the newest, and not more often than `READING_MS`: one that comes too soon is
 * held, a newer one takes its place, and it is told when its time has come. `from`: the newest event before the first that is taken.
 */
export function makeCoalescer(from: number): Coalescer {
  const toldAt = new Map<string, number>()
  const held = new Map<string, Event>()
  let highest = from
  let forgotAt = 0

  const tell = (event: Event): Told => {
    const withId = event.id > highest
    if (withId) highest = event.id
    return { event, withId }
  }
  const isDue = (session: string, now: number): boolean => now - (toldAt.get(session) ?? Number.NEGATIVE_INFINITY) >= READING_MS

  return {
    take(events, now) {
      const newest = new Map<string, Event>()
      for (const event of events) if (event.type === 'reading') newest.set(sessionOf(event), event)
      for (const session of newest.keys()) held.delete(session)
      const told: Told[] = []
      for (const [session, event] of held) {
        if (!isDue(session, now)) continue
        held.delete(session)
        toldAt.set(session, now)
        told.push(tell(event))
      }
      for (const event of events) {
        const session = sessionOf(event)
        if (event.type === 'reading') {
          if (newest.get(session) !== event) continue
          if (!isDue(session, now)) {
            held.set(session, event)
            continue
          }
          toldAt.set(session, now)
        }
        told.push(tell(event))
      }
      if (now - forgotAt > FORGET_MS) {
        forgotAt = now
        for (const [session, at] of toldAt) if (now - at > FORGET_MS) toldAt.delete(session)
      }
      return told
    },
  }
}

const sessionOf = (event: Event): string => event.session_id ?? ''
