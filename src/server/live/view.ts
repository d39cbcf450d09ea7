import type { Event } from '../../contract/event.js'
import { makeCoalescer, type Told } from './coalesce.js'
import { eventFrame, gapFrame, goneFrame, RETRY, type RowKind, rowFrame } from './frames.js'
import { makeReviews } from './reviews.js'
import { makeRows, type RowChange } from './rows.js'
import { snapshotFrame } from './snapshot.js'
import type { LiveSource } from './source.js'

/** What is looked for without an event telling of it. */
const LOOK_MS = 1_000
const ALL_ROWS_TICKS = 50
/** A hook's own clock runs ahead of its commit by as long as it waits for the store. */
const OVERLAP_MS = 6_000
export const MAX_EVENTS = 5_000

/** One message; `id`: of the event it tells, null: of none. The text is empty where it is not told. */
export interface Frame {
  id: number | null
  text(words: boolean): string
}

export interface View {
  /** What is to be told since the last time. */
  next(now: number): Frame[]
  /** Everything up to this event was told, or is held to be told soon. */
  last(): number
  /** What a client is told first: what is so now, and what it has missed. */
  snapshot(): (client: { words: boolean; lastEventId: number | null }) => Buffer
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
    frames.push(...sessions.due(now).map((row) => rowOf('session', row)), ...jobs.due(now).map((row) => rowOf('job', row)))
    return frames
  }

  return {
    next(now) {
      const events = source.events(last, MAX_EVENTS)
      last = events.at(-1)?.id ?? last
      const frames = coalescer.take(events, now).map((told) => frameOf(source, told))
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
      const parts = {
        ...{ last, at: source.now(), version: source.version, spend: source.spendToday() },
        ...{ sessions: sessions.all(), jobs: jobs.all(), briefs: reviews.all() },
      }
      const written = remembered((words) => Buffer.from(RETRY + snapshotFrame(parts, words === 'words')))
      const missed = remembered((key) => {
        const [after, words] = key.split(' ')
        return since(Number(after), words === 'words')
      })
      return ({ words, lastEventId }) => {
        const kind = words ? 'words' : 'figures'
        return lastEventId === null ? written(kind) : Buffer.concat([written(kind), missed(`${lastEventId} ${kind}`)])
      }
    },
  }

  function since(lastEventId: number, words: boolean): Buffer {
    const missed = lastEventId > last ? null : missedSince(lastEventId)
    if (missed === null) return Buffer.from(gapFrame(last))
    return bytesOf(
      missed.map((event) => frameOf(source, { event, withId: true })),
      words,
    )
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

const frameOf = (source: LiveSource, { event, withId }: Told): Frame => ({
  id: event.id,
  text: (words) => eventFrame(words ? event : source.withoutWords(event), withId),
})

const rowOf = (kind: RowKind, { id, text }: RowChange): Frame => ({
  id: null,
  text(words) {
    if (text !== null) return rowFrame(kind, words ? text.words : text.figures)
    // Nobody without words was ever told of a brief.
    return words || kind !== 'brief' ? goneFrame(kind, id) : ''
  },
})

export const bytesOf = (frames: readonly Frame[], words: boolean): Buffer =>
  Buffer.from(frames.map((frame) => frame.text(words)).join(''))

/** Made when it is first asked for. */
export function remembered(make: (key: string) => Buffer): (key: string) => Buffer {
  const made = new Map<string, Buffer>()
  return (key) => {
    const bytes = made.get(key) ?? make(key)
    made.set(key, bytes)
    return bytes
  }
}
