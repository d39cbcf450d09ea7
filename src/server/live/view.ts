import type { Snapshot } from '../../contract/api/live.js'
import type { Event } from '../../contract/records/event.js'
import { eventFrame, gapFrame, goneFrame, RETRY, type RowKind, rowFrame } from './frames.js'
import { makeRows, type RowChange, type RowText } from './rows.js'
import type { LiveSource, Named } from './source.js'

/** What is looked for without an event telling of it. */
const LOOK_MS = 1_000
const ALL_ROWS_TICKS = 50
/** A hook's own clock runs ahead of its commit by as long as it waits for the store. */
const OVERLAP_MS = 6_000
export const MAX_EVENTS = 5_000

/** A message of the stream. `id`: that of its event; null when it tells of no event. */
export interface Frame {
  id: number | null
  text: string
}

export interface View {
  /** What is to be told since the last time. */
  next(now: number): Frame[]
  /** Everything up to this event was told, or is held to be told soon. */
  last(): number
  /** What a client is told first: what is so now, and what it has missed. */
  snapshot(): (lastEventId: number | null) => Buffer
}

/** What listeners know. */
export function beginView(source: LiveSource): View {
  let last = source.newest()
  const coalescer = makeCoalescer(last)
  const sessions = makeRows(source.sessions(), source.session, source.complain)
  const jobs = makeRows(source.jobs(), source.job, source.complain)
  const reviews = makeReviews(source.briefs, source.brief)
  let lookedAt = Number.NEGATIVE_INFINITY
  let heardAt = source.now()

  const changedRows = (now: number): Frame[] => {
    sessions.touchSome(ALL_ROWS_TICKS)
    jobs.touchSome(ALL_ROWS_TICKS)
    const frames: Frame[] = []
    if (now - lookedAt >= LOOK_MS) {
      lookedAt = now
      const since = new Date(heardAt.getTime() - OVERLAP_MS)
      heardAt = source.now()
      for (const id of source.heardOf(since)) sessions.touch(id)
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
        // What happened is told all the same; rows are looked at again.
        source.complain(error)
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
      const written = Buffer.from(RETRY + snapshotFrame(contents))
      const missed = remembered(since)
      return (lastEventId) => (lastEventId === null ? written : Buffer.concat([written, missed(lastEventId)]))
    },
  }

  function since(lastEventId: number): Buffer {
    const missed = lastEventId > last ? null : missedSince(lastEventId)
    if (missed === null) return Buffer.from(gapFrame(last))
    return bytesOf(missed.map((event) => frameOf({ event, withId: true })))
  }

  /** Readings, by far the most, only of late: what they said before is in the rows. null: it is too much. */
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

/** Makes each value when it is first asked for. */
function remembered(make: (key: number) => Buffer): (key: number) => Buffer {
  const made = new Map<number, Buffer>()
  return (key) => {
    const bytes = made.get(key) ?? make(key)
    made.set(key, bytes)
    return bytes
  }
}

/** Between two readings of one session: at most five a second. */
export const READING_MS = 200
const FORGET_MS = 60_000

/** `withId`: a client that comes back may go on behind it. One that is told after a newer one has none. */
export interface LiveEvent {
  event: Event
  withId: boolean
}

interface Coalescer {
  /** Takes what has happened since the last time, oldest first; gives what is to be told now, in that order. */
  take(events: readonly Event[], now: number): LiveEvent[]
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

  const tell = (event: Event): LiveEvent => {
    const withId = event.id > highest
    if (withId) highest = event.id
    return { event, withId }
  }
  const isDue = (session: string, now: number): boolean =>
    now - (toldAt.get(session) ?? Number.NEGATIVE_INFINITY) >= READING_MS

  return {
    take(events, now) {
      const newest = new Map<string, Event>()
      for (const event of events) if (event.type === 'reading') newest.set(sessionOf(event), event)
      for (const session of newest.keys()) held.delete(session)
      const told: LiveEvent[] = []
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

interface Reviews {
  /** What has changed since it was told; one that no longer waits is told once more, as it is then, or that it is gone. */
  due(): RowChange[]
  all(): RowText[]
}

/** Briefs that wait for a review: few, so the whole list is looked at. */
export function makeReviews(list: () => readonly Named[], look: (id: string) => RowText | null): Reviews {
  let told = new Map(list())
  return {
    due() {
      const now = new Map(list())
      const changed = [...now].filter(([id, text]) => told.get(id) !== text).map(([id, text]) => ({ id, text }))
      const left = [...told.keys()].filter((id) => !now.has(id)).map((id) => ({ id, text: look(id) }))
      told = now
      return [...changed, ...left]
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

/** Rows are kept as JSON already: with hundreds of sessions and clients that all come back at once, none is written twice. */
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
  return `event: snapshot\ndata: ${json},"sessions":${list(sessions)},"jobs":${list(jobs)},"briefs":${list(briefs)}}\n\n`
}
