import type { Snapshot } from '../../contract/api/live.js'
import type { Event } from '../../contract/records/event.js'
import { eventFrame, gapFrame, goneFrame, RETRY_FRAME, type RowKind, rowFrame } from './frames.js'
import { makeRowTracker, type RowChange, type RowText } from './rows.js'
import type { LiveSource, NamedRow } from './source.js'

/** Interval for finding changes that no event reports. */
const POLL_MS = 1_000
const ALL_ROWS_TICKS = 50
/** Time by which a poll looks back. A hook stamps its signal before it waits for the store. */
const OVERLAP_MS = 6_000
export const MAX_EVENTS = 5_000

/** Message of the event stream. `id` is that of its event, or null for a row. */
export interface Frame {
  id: number | null
  text: string
}

export interface StreamView {
  /** Returns the messages since the last call. */
  next(now: number): Frame[]
  /** Id of the last event that was sent or is held back to be sent soon. */
  last(): number
  /** Returns a function that writes the first bytes for a client: snapshot and missed events. */
  snapshot(): (lastEventId: number | null) => Buffer
}

/** Tracks what all clients of the stream have received. */
export function beginStreamView(source: LiveSource): StreamView {
  let last = source.newest()
  const coalescer = makeCoalescer(last)
  const sessions = makeRowTracker(source.sessions(), source.session, source.logFailure)
  const jobs = makeRowTracker(source.jobs(), source.job, source.logFailure)
  const reviews = trackReviews(source.briefs, source.brief)
  let polledAt = Number.NEGATIVE_INFINITY
  let seenUpTo = source.now()

  const changedRows = (now: number): Frame[] => {
    sessions.touchSome(ALL_ROWS_TICKS)
    jobs.touchSome(ALL_ROWS_TICKS)
    const frames: Frame[] = []
    if (now - polledAt >= POLL_MS) {
      polledAt = now
      const since = new Date(seenUpTo.getTime() - OVERLAP_MS)
      seenUpTo = source.now()
      for (const id of source.seenSince(since)) sessions.touch(id)
      frames.push(...reviews.due().map((row) => rowOf('brief', row)))
    }
    frames.push(
      ...sessions.due(now).map((row) => rowOf('session', row)),
      ...jobs.due(now).map((row) => rowOf('job', row)),
    )
    return frames
  }

  return {
    next(now) {
      const events = source.events(last, MAX_EVENTS)
      last = events.at(-1)?.id ?? last
      const frames = coalescer.take(events, now).map(frameOf)
      try {
        for (const event of events) {
          if (event.session_id !== null) sessions.touch(event.session_id)
          if (event.job_id !== null) jobs.touch(event.job_id)
        }
        frames.push(...changedRows(now))
      } catch (error) {
        // Events are sent in any case. Rows are read again at the next tick.
        source.logFailure(error)
      }
      return frames
    },
    last: () => last,
    snapshot() {
      const contents = {
        last,
        at: source.now(),
        version: source.version,
        spend: source.spendToday(),
        sessions: sessions.all(),
        jobs: jobs.all(),
        briefs: reviews.all(),
      }
      const written = Buffer.from(RETRY_FRAME + snapshotFrame(contents))
      const missed = memoize(since)
      return (lastEventId) => (lastEventId === null ? written : Buffer.concat([written, missed(lastEventId)]))
    },
  }

  function since(lastEventId: number): Buffer {
    const missed = lastEventId > last ? null : missedSince(lastEventId)
    if (missed === null) return Buffer.from(gapFrame(last))
    return bytesOf(missed.map((event) => frameOf({ event, withId: true })))
  }

  /** Missed events. Of token readings only late ones, as rows include them. Null if too many. */
  function missedSince(lastEventId: number): Event[] | null {
    const isOver = ({ id }: Event): boolean => id <= last
    const others = source.eventsButReadings(lastEventId, MAX_EVENTS + 1).filter(isOver)
    if (others.length > MAX_EVENTS) return null
    const late = source.events(Math.max(lastEventId, last - MAX_EVENTS), MAX_EVENTS + 1).filter(isOver)
    return [...others, ...late.filter(({ type }) => type === 'reading')].sort((a, b) => a.id - b.id)
  }
}

const frameOf = ({ event, withId }: LiveEvent): Frame => ({ id: event.id, text: eventFrame(event, withId) })

const rowOf = (kind: RowKind, { id, text }: RowChange): Frame => ({
  id: null,
  text: text === null ? goneFrame(kind, id) : rowFrame(kind, text),
})

export const bytesOf = (frames: readonly Frame[]): Buffer => Buffer.from(frames.map(({ text }) => text).join(''))

/** Caches the bytes of each key. */
function memoize(make: (key: number) => Buffer): (key: number) => Buffer {
  const cache = new Map<number, Buffer>()
  return (key) => {
    const bytes = cache.get(key) ?? make(key)
    cache.set(key, bytes)
    return bytes
  }
}

/** Minimum time between two token readings of one session: at most five a second. */
export const MIN_READING_INTERVAL_MS = 200
const FORGET_MS = 60_000

/**
 * Event to send. Without id if a newer event was sent before: a client must not resume after it.
 */
export interface LiveEvent {
  event: Event
  withId: boolean
}

interface Coalescer {
  /** Takes the new events, oldest first. Returns the events to send now, in that order. */
  take(events: readonly Event[], now: number): LiveEvent[]
}

/**
 * Passes all events on, except that a session has at most one token reading per
 * `MIN_READING_INTERVAL_MS`.
 * A reading that comes too soon is held until its time and is replaced by a newer one.
 * `from` is the id of the newest event before the first one passed.
 */
export function makeCoalescer(from: number): Coalescer {
  const sentAt = new Map<string, number>()
  const held = new Map<string, Event>()
  let highest = from
  let forgotAt = 0

  const toLiveEvent = (event: Event): LiveEvent => {
    const withId = event.id > highest
    if (withId) highest = event.id
    return { event, withId }
  }
  const isDue = (session: string, now: number): boolean =>
    now - (sentAt.get(session) ?? Number.NEGATIVE_INFINITY) >= MIN_READING_INTERVAL_MS

  return {
    take(events, now) {
      const newest = new Map<string, Event>()
      for (const event of events) if (event.type === 'reading') newest.set(sessionOf(event), event)
      for (const session of newest.keys()) held.delete(session)
      const due: LiveEvent[] = []
      for (const [session, event] of held) {
        if (!isDue(session, now)) continue
        held.delete(session)
        sentAt.set(session, now)
        due.push(toLiveEvent(event))
      }
      for (const event of events) {
        const session = sessionOf(event)
        if (event.type === 'reading') {
          if (newest.get(session) !== event) continue
          if (!isDue(session, now)) {
            held.set(session, event)
            continue
          }
          sentAt.set(session, now)
        }
        due.push(toLiveEvent(event))
      }
      if (now - forgotAt > FORGET_MS) {
        forgotAt = now
        for (const [session, at] of sentAt) if (now - at > FORGET_MS) sentAt.delete(session)
      }
      return due
    },
  }
}

const sessionOf = (event: Event): string => event.session_id ?? ''

interface Reviews {
  /**
   * Changed briefs. A brief that left the review is returned once more, as it is now or as gone.
   */
  due(): RowChange[]
  all(): RowText[]
}

/** Tracks the briefs under review. They are few, so the whole list is read each time. */
export function trackReviews(list: () => readonly NamedRow[], read: (id: string) => RowText | null): Reviews {
  let sent = new Map(list())
  return {
    due() {
      const now = new Map(list())
      const changed = [...now].filter(([id, text]) => sent.get(id) !== text).map(([id, text]) => ({ id, text }))
      const removed = [...sent.keys()].filter((id) => !now.has(id)).map((id) => ({ id, text: read(id) }))
      sent = now
      return [...changed, ...removed]
    },
    all: () => list().map(([, text]) => text),
  }
}

interface SnapshotDependencies {
  last: number
  at: Date
  sessions: readonly RowText[]
  jobs: readonly RowText[]
  briefs: readonly RowText[]
  spend: Snapshot['spend_today']
  version: string
}

/** Writes the snapshot from rows that are JSON already, so that none is serialised per client. */
function snapshotFrame(deps: SnapshotDependencies): string {
  const rest: Omit<Snapshot, 'sessions' | 'jobs' | 'briefs'> = {
    last_event_id: deps.last,
    at: deps.at.toISOString(),
    spend_today: deps.spend,
    version: deps.version,
  }
  const list = (rows: readonly RowText[]): string => `[${rows.join(',')}]`
  const json = JSON.stringify(rest).slice(0, -1)
  const { sessions, jobs, briefs } = deps
  const parts = `"sessions":${list(sessions)},"jobs":${list(jobs)},"briefs":${list(briefs)}`
  return `event: snapshot\ndata: ${json},${parts}}\n\n`
}
