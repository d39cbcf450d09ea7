import type { History } from '../contract/api/history.js'
import type { Event } from '../contract/event.js'
import { QUARTER_MS, type SpendRow } from '../contract/spend.js'
import type { Store } from '../store/store.js'
import { addDays, type Calendar, calendarIn } from './calendar.js'
import { figuresOf, type Sum, sumOf } from './sum-spend.js'

const DAY_MS = 24 * 3_600_000
const USUAL_DAYS = 30

export interface HistoryQuery {
  /** Today and so many days before it, less one. */
  days?: number | undefined
  /** Whose days; left out: the machine's. */
  timezone?: string | undefined
}

type HistoryStore = Pick<Store, 'spend' | 'firstSpend' | 'milestones' | 'session'>

/** What Baton recorded: spend, compactions and handoffs by day, project and model. Throws a `BatonError` for a timezone nobody knows. */
export function readHistory(store: HistoryStore, { days = USUAL_DAYS, timezone }: HistoryQuery, now: Date): History {
  const calendar = calendarIn(timezone)
  const today = calendar.dateAt(now.getTime())
  const first = addDays(today, 1 - days)
  // A day begins at another time in each zone: a day more is read, and what is not of these days is left out.
  const since = now.getTime() - (days + 1) * DAY_MS
  const isMeant = (date: string): boolean => date >= first && date <= today
  const sums = new Sums()
  for (const row of store.spend({ fromQuarter: Math.floor(since / QUARTER_MS) })) {
    const date = calendar.dateAt(row.quarter * QUARTER_MS)
    if (isMeant(date)) sums.spent(date, row)
  }
  for (const event of store.milestones(new Date(since).toISOString())) {
    const date = calendar.dateAt(Date.parse(event.at))
    const session = event.session_id === null ? null : store.session(event.session_id)
    if (isMeant(date)) sums.happened(date, event, session?.project ?? null, session?.model ?? null)
  }
  const dates = Array.from({ length: days }, (_, i) => addDays(first, i))
  const began = store.firstSpend()
  return {
    timezone: calendar.timezone,
    days: dates.map((date) => ({ date, ...figuresOf(sums.days.get(date)) })),
    projects: sorted(sums.projects).map(([project, sum]) => ({ project, ...figuresOf(sum) })),
    models: sorted(sums.models).map(([model, sum]) => ({ model, ...figuresOf(sum) })),
    totals: figuresOf(sums.total),
    since: began === null ? null : calendar.dateAt(began * QUARTER_MS),
  }
}

/** What was spent since midnight. */
export function spendToday(store: Pick<Store, 'spend'>, now: Date, calendar: Calendar = calendarIn()) {
  const today = calendar.dateAt(now.getTime())
  const sum = sumOf()
  for (const row of store.spend({ fromQuarter: Math.floor((now.getTime() - 26 * 3_600_000) / QUARTER_MS) }))
    if (calendar.dateAt(row.quarter * QUARTER_MS) === today) sum.spent(row)
  const { cost_usd, input_tokens, output_tokens } = figuresOf(sum)
  return { cost_usd, input_tokens, output_tokens }
}

class Sums {
  readonly total = sumOf()
  readonly days = new Map<string, Sum>()
  readonly projects = new Map<string | null, Sum>()
  readonly models = new Map<string | null, Sum>()

  spent(date: string, row: SpendRow): void {
    for (const sum of this.#of(date, row.project, row.model)) sum.spent(row)
  }

  happened(date: string, event: Event, project: string | null, model: string | null): void {
    for (const sum of this.#of(date, project, model)) sum.happened(event)
  }

  #of(date: string, project: string | null, model: string | null): Sum[] {
    return [this.total, at(this.days, date), at(this.projects, project), at(this.models, model)]
  }
}

function at<K>(sums: Map<K, Sum>, key: K): Sum {
  const known = sums.get(key) ?? sumOf()
  sums.set(key, known)
  return known
}

/** What cost most first; where nobody says what it cost, what said most. */
function sorted<K>(sums: ReadonlyMap<K, Sum>): [K, Sum][] {
  const weight = ({ costUsd, output }: Sum): [number, number] => [costUsd ?? 0, output]
  return [...sums].sort(([, a], [, b]) => weight(b)[0] - weight(a)[0] || weight(b)[1] - weight(a)[1])
}
