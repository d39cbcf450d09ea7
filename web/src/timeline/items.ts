import type { LossShown } from '../../../src/contract/api/sessions.js'
import type { Event } from '../../../src/contract/event.js'

/** One entry of a session's timeline. A compaction is one from its start to what was put back after it, however many events tell of it. */
export type Item =
  | { kind: 'event'; key: number; at: string; event: Event }
  | { kind: 'warning'; key: number; at: string; event: Event }
  | CompactionItem

export interface CompactionItem {
  kind: 'compaction'
  key: number
  at: string
  /** null: its beginning was not seen. */
  start: Event | null
  /** null: it is under way. */
  complete: Event | null
  loss: LossShown | null
  recoveries: readonly Event[]
}

/** What happens behind the scenes: only shown when everything is wanted. */
const QUIET: ReadonlySet<Event['type']> = new Set(['reading', 'message_queued', 'message_delivered', 'message_cancelled'])
/** Told by the compaction they belong to. */
const OF_COMPACTION: ReadonlySet<Event['type']> = new Set(['loss_report', 'recovery_delivered'])

/** Newest first. `all`: also what is told elsewhere on the page. */
export function itemsOf(events: readonly Event[], losses: readonly LossShown[], options: { all: boolean }): Item[] {
  const items: Item[] = []
  const compactions = new Map<string, CompactionItem>()
  const warned = new Set(events.flatMap((event) => (event.type === 'context_warning' ? levelsOf(event) : [])))
  let open: CompactionItem | null = null
  for (const event of events) {
    const { id: key, at, type, data } = event
    if (type === 'compaction_start') {
      open = { kind: 'compaction', key, at, start: event, complete: null, loss: lossOf(losses, at), recoveries: [] }
      compactions.set(at, open)
      items.push(open)
    } else if (type === 'compaction_complete') {
      if (open === null) {
        items.push({ kind: 'compaction', key, at, start: null, complete: event, loss: lossBefore(losses, at), recoveries: [] })
      } else open.complete = event
      open = null
    } else if (OF_COMPACTION.has(type)) {
      const of = compactions.get(String(data.compaction_started_at))
      if (of === undefined) items.push({ kind: 'event', key, at, event })
      else if (type === 'recovery_delivered') of.recoveries = [...of.recoveries, event]
    } else if (type === 'context_warning') items.push({ kind: 'warning', key, at, event })
    else if (options.all || !isQuiet(event, warned)) items.push({ kind: 'event', key, at, event })
  }
  return items.reverse()
}

/** A crossing that was warned of is told by the warning; a new cycle by what began it. */
function isQuiet(event: Event, warned: ReadonlySet<string>): boolean {
  if (event.type === 'level_crossed') return warned.has(`${event.data.level} ${minute(event.at)}`)
  if (event.type === 'cycle_started') return event.data.reason !== 'clear'
  return QUIET.has(event.type)
}

function levelsOf({ data, at }: Event): string[] {
  const levels = Array.isArray(data.levels) ? data.levels : [data.level]
  return levels.map((level) => `${level} ${minute(at)}`)
}
const minute = (at: string): string => at.slice(0, 16)

const lossOf = (losses: readonly LossShown[], startedAt: string): LossShown | null =>
  losses.find((loss) => loss.compaction_started_at === startedAt) ?? null
const lossBefore = (losses: readonly LossShown[], at: string): LossShown | null =>
  losses.findLast((loss) => loss.compaction_started_at <= at) ?? null

/** Fetched and live events as one, each once, in the order of their ids. */
export function joined(fetched: readonly Event[], live: readonly Event[]): Event[] {
  const last = fetched.at(-1)?.id ?? 0
  const fresh = live.filter(({ id }) => id > last)
  return fresh.length === 0 ? [...fetched] : [...fetched, ...fresh]
}
