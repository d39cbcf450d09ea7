import { severityOf } from '../severity.js'
import type { Alarm } from './alarms.js'
import { isOver, type Seat } from './seats.js'

export const SORTS = {
  alarms: 'Alarms first',
  fullest: 'Fullest first',
  newest: 'Newest first',
  cost: 'Most spent',
  name: 'By name',
} as const
export type Sort = keyof typeof SORTS

export const isSort = (text: string): text is Sort => text in SORTS

/**
 * Seats in the order somebody chose. Within the same rank it goes by when they began: a list that moves with every signal cannot be read.
 */
export function ordered(seats: readonly Seat[], sort: Sort, alarms: readonly Alarm[]): Seat[] {
  const rank = new Map(alarms.map((alarm, n) => [alarm.seat_id, alarms.length - n] as const).reverse())
  return [...seats].sort((a, b) => figure(b, sort, rank) - figure(a, sort, rank) || byName(a, b, sort) || newestFirst(a, b))
}

function figure(seat: Seat, sort: Sort, rank: ReadonlyMap<string, number>): number {
  const { current } = seat
  if (sort === 'alarms') return (rank.get(seat.seat_id) ?? 0) + (isOver(seat) ? 0 : standing(seat))
  if (sort === 'fullest') return isOver(seat) ? -1 : (current.compaction_percent ?? 0)
  if (sort === 'cost') return seat.cost_usd ?? -1
  return 0
}

/** Between the alarms and what is over, below 1: by the level it crossed, which changes seldom; last those nobody has a figure of. */
function standing({ current: { level, compaction_percent: percent, enabled } }: Seat): number {
  if (percent === null) return 0.1
  return 0.2 + (enabled ? severityOf(level, percent) / 10 : 0)
}

const byName = (a: Seat, b: Seat, sort: Sort): number => (sort === 'name' ? a.name.localeCompare(b.name) : 0)

function newestFirst(a: Seat, b: Seat): number {
  if (a.current.started_at !== b.current.started_at) return a.current.started_at < b.current.started_at ? 1 : -1
  return a.seat_id < b.seat_id ? -1 : 1
}
