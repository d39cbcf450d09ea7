import type { BriefRow } from '../../../../src/contract/api/briefs.js'
import type { SessionRow } from '../../../../src/contract/api/sessions.js'
import type { Event } from '../../../../src/contract/records/event.js'
import { isSeatOver, type Seat, seatName } from '../../live/seats.js'
import { percentText } from '../../parts/format.js'
import { severityOf } from '../../parts/severity.js'

/** Alarm about a session or brief that needs the user's attention now. */
export interface Alarm {
  key: string
  kind: 'critical' | 'review' | 'waiting' | 'silent' | 'stale'
  /** Subject of the alarm's sentence: the seat's name. `text` is the rest of the sentence. */
  name: string
  text: string
  seat_id: string
  session_id: string
  brief_id: string | null
  /** Time at which a review ends. Null when the alarm has no such time. */
  until: string | null
}

const ORDER: readonly Alarm['kind'][] = ['critical', 'review', 'waiting', 'silent', 'stale']
const SILENT_MS = 600_000

export function alarmsOf(seats: readonly Seat[], briefs: Iterable<BriefRow>, feed: readonly Event[]): Alarm[] {
  const silenced = lastSilence(feed)
  const alarms = seats.flatMap(({ current }) => alarmOfSession(current, silenced.get(current.session_id)) ?? [])
  for (const brief of briefs) alarms.push(alarmOfBrief(brief))
  return alarms.sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind))
}

/** Returns a session's most severe alarm. Null when it has none, has ended or is disabled. */
function alarmOfSession(row: SessionRow, silence?: string): Alarm | null {
  if (row.state === 'ended' || row.state === 'unknown') return null
  const about = (kind: Alarm['kind'], text: string): Alarm => ({
    key: `${kind} ${row.session_id}`,
    kind,
    text,
    name: seatName(row),
    seat_id: row.seat_id,
    session_id: row.session_id,
    brief_id: null,
    until: null,
  })
  if (severityOf(row.level, row.compaction_percent) === 4 && row.enabled)
    return about('critical', `is ${percentText(row.compaction_percent)} of the way to compaction`)
  if (row.state === 'waiting') return about('waiting', 'waits for a permission or an answer')
  if (!row.enabled) return null
  if (isSilent(row, silence))
    return about('silent', 'is working, but Baton receives no figures from it: run baton doctor')
  if (row.stale) return about('stale', 'is working, but its figures are more than 10 minutes old')
  return null
}

/** True after ten minutes without a reading, or when a silence alarm follows the last reading. */
function isSilent(row: SessionRow, alarmedAt: string | undefined): boolean {
  if (row.updated_at !== null) return alarmedAt !== undefined && alarmedAt > row.updated_at
  return (
    alarmedAt !== undefined ||
    (row.state === 'working' && Date.parse(row.seen_at) - Date.parse(row.started_at) >= SILENT_MS)
  )
}

function lastSilence(feed: readonly Event[]): Map<string, string> {
  return new Map(
    feed.flatMap(({ type, session_id, at }) =>
      type === 'silence_alarm' && session_id !== null ? [[session_id, at]] : [],
    ),
  )
}

function alarmOfBrief(brief: BriefRow): Alarm {
  const { seat_name, title, project, session_id } = brief
  const name = seatName({ seat_name, title, project, cwd: null, session_id })
  return {
    key: `review ${brief.brief_id}`,
    kind: 'review',
    name,
    text: `has a brief that waits for your review (brief ${brief.sequence})`,
    seat_id: brief.seat_id,
    session_id: brief.session_id,
    brief_id: brief.brief_id,
    until: brief.review_until,
  }
}

/** Sort orders by name. The first is the default, the same as in `baton status`. */
export const SORT_ORDERS = {
  state: 'Waiting for you first',
  alarms: 'Alarms first',
  fullest: 'Fullest first',
  newest: 'Newest first',
  cost: 'Most spent first',
  name: 'By name',
} as const
type Sort = keyof typeof SORT_ORDERS
export const DEFAULT_SORT: Sort = 'state'

export const isSortOrder = (text: string): text is Sort => text in SORT_ORDERS

/** Sorts seats in the chosen order. Equal ones are sorted by start, so that signals move no row. */
export function sortSeats(seats: readonly Seat[], sort: Sort, alarms: readonly Alarm[]): Seat[] {
  if (sort === 'state') return [...seats].sort((a, b) => compareSessions(a.current, b.current))
  const rank = new Map(alarms.map((alarm, n) => [alarm.seat_id, alarms.length - n] as const).reverse())
  return [...seats].sort(
    (a, b) => sortFigure(b, sort, rank) - sortFigure(a, sort, rank) || byName(a, b, sort) || newestFirst(a, b),
  )
}

const STATES: Record<SessionRow['state'], number> = {
  waiting: 0,
  working: 1,
  compacting: 1,
  idle: 2,
  unknown: 3,
  ended: 4,
}

/**
 * Compares two sessions: waiting for the user, working, idle, ended; the newest first within each.
 * A running session is sorted by its start, an ended one by its end.
 * Repeats `compareSessions` of src/engine/views/session-queries.ts, and a test compares both.
 * The page cannot import it, because it imports only types of the program.
 */
export function compareSessions(a: SessionRow, b: SessionRow): number {
  if (rankOf(a) !== rankOf(b)) return rankOf(a) - rankOf(b)
  if (ageOf(a) !== ageOf(b)) return ageOf(a) < ageOf(b) ? 1 : -1
  return a.session_id < b.session_id ? -1 : 1
}

const isLive = ({ state }: SessionRow): boolean => state !== 'ended' && state !== 'unknown'

/** Rank of a session in the list. A brief that waits for its review waits for the user. */
const rankOf = (row: SessionRow): number =>
  isLive(row) && row.handoff?.state === 'review' ? STATES.waiting : STATES[row.state]

const ageOf = (row: SessionRow): string => (isLive(row) ? row.started_at : (row.ended_at ?? row.seen_at))

function sortFigure(seat: Seat, sort: Sort, rank: ReadonlyMap<string, number>): number {
  const { current } = seat
  if (sort === 'alarms') return (rank.get(seat.seat_id) ?? 0) + (isSeatOver(seat) ? 0 : levelRank(seat))
  if (sort === 'fullest') return isSeatOver(seat) ? -1 : (current.compaction_percent ?? 0)
  if (sort === 'cost') return seat.cost_usd ?? -1
  return 0
}

/** Rank, below 1, of a seat without alarm: by its level, which rarely changes. */
function levelRank({ current: { level, compaction_percent: percent, enabled } }: Seat): number {
  if (percent === null) return 0.1
  return 0.2 + (enabled ? severityOf(level, percent) / 10 : 0)
}

const byName = (a: Seat, b: Seat, sort: Sort): number => (sort === 'name' ? a.name.localeCompare(b.name) : 0)

function newestFirst(a: Seat, b: Seat): number {
  if (a.current.started_at !== b.current.started_at) return a.current.started_at < b.current.started_at ? 1 : -1
  return a.seat_id < b.seat_id ? -1 : 1
}
