import type { SpendFigures, SpendHistory } from '../contract/api/history.js'
import type { Event } from '../contract/records/event.js'
import { QUARTER_MS, type SpendRow } from '../contract/records/spend.js'
import type { Store } from '../store/store.js'
import { addDays, type Calendar, calendarIn } from './calendar.js'

const DAY_MS = 24 * 3_600_000
const USUAL_DAYS = 30

interface HistoryQuery {
  /** Number of days, today included. */
  days?: number | undefined
  /** Timezone of the days. Absent for the machine's. */
  timezone?: string | undefined
}

type HistoryStore = Pick<Store, 'spend' | 'firstSpend' | 'milestones' | 'session' | 'jobs'>

/**
 * Returns spend, compactions and handoffs by day, project and model.
 * Throws a BatonError for an unknown timezone.
 */
export function readHistory(
  store: HistoryStore,
  { days = USUAL_DAYS, timezone }: HistoryQuery,
  now: Date,
): SpendHistory {
  const calendar = calendarIn(timezone)
  const today = calendar.dateAt(now.getTime())
  const first = addDays(today, 1 - days)
  // An extra day is read, because days begin at other times in other timezones.
  const since = now.getTime() - (days + 1) * DAY_MS
  const isInRange = (date: string): boolean => date >= first && date <= today
  const sums = new Sums(repositoriesOf(store))
  for (const row of store.spend({ fromQuarter: Math.floor(since / QUARTER_MS) })) {
    const date = calendar.dateAt(row.quarter * QUARTER_MS)
    if (isInRange(date)) sums.spent(date, row)
  }
  for (const event of store.milestones(new Date(since).toISOString())) {
    const date = calendar.dateAt(Date.parse(event.at))
    const session = event.session_id === null ? null : store.session(event.session_id)
    if (isInRange(date))
      sums.happened(date, event, session?.project ?? null, session?.model ?? session?.track.model ?? null)
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

/** Returns the spend since midnight. */
export function spendOfToday(store: Pick<Store, 'spend'>, now: Date, calendar: Calendar = calendarIn()) {
  const today = calendar.dateAt(now.getTime())
  const sum = newSum()
  for (const row of store.spend({ fromQuarter: Math.floor((now.getTime() - 26 * 3_600_000) / QUARTER_MS) }))
    if (calendar.dateAt(row.quarter * QUARTER_MS) === today) sum.spent(row)
  const { cost_usd, input_tokens, output_tokens } = figuresOf(sum)
  return { cost_usd, input_tokens, output_tokens }
}

/**
 * Maps each worktree of a job to its repository.
 * A worktree's folder is named after the job, so it would appear as an unknown project.
 */
function repositoriesOf(store: Pick<Store, 'jobs'>): Map<string, string> {
  const worktrees = store.jobs().flatMap(({ workspace }) => workspace?.worktree ?? [])
  return new Map(worktrees.map(({ path, repository }) => [path, repository]))
}

class Sums {
  readonly total = newSum()
  readonly days = new Map<string, Sum>()
  readonly projects = new Map<string | null, Sum>()
  readonly models = new Map<string | null, Sum>()

  /** `repositories`: the result of `repositoriesOf`. */
  constructor(private readonly repositories: ReadonlyMap<string, string>) {}

  spent(date: string, row: SpendRow): void {
    for (const sum of this.of(date, row.project, row.model)) sum.spent(row)
  }

  happened(date: string, event: Event, project: string | null, model: string | null): void {
    for (const sum of this.of(date, project, model)) sum.happened(event)
  }

  private of(date: string, project: string | null, model: string | null): Sum[] {
    const place = project === null ? null : (this.repositories.get(project) ?? project)
    return [this.total, sumFor(this.days, date), sumFor(this.projects, place), sumFor(this.models, model)]
  }
}

function sumFor<K>(sums: Map<K, Sum>, key: K): Sum {
  const known = sums.get(key) ?? newSum()
  sums.set(key, known)
  return known
}

/** Sorts by cost, most expensive first. Without costs, by output tokens. */
function sorted<K>(sums: ReadonlyMap<K, Sum>): [K, Sum][] {
  const weight = ({ costUsd, output }: Sum): [number, number] => [costUsd ?? 0, output]
  return [...sums].sort(([, a], [, b]) => weight(b)[0] - weight(a)[0] || weight(b)[1] - weight(a)[1])
}

interface Sum {
  costUsd: number | null
  output: number
  spent(row: SpendRow): void
  happened(event: Event): void
  figures(): SpendFigures
}

function newSum(): Sum {
  const sessions = new Set<string>()
  let [steps, input, cacheCreation, cacheRead, compactions, handoffs, saved] = [0, 0, 0, 0, 0, 0, 0]
  const sum: Sum = {
    costUsd: null,
    output: 0,
    spent(row) {
      sessions.add(row.sessionId)
      steps += row.steps
      input += row.input
      cacheCreation += row.cacheCreation
      cacheRead += row.cacheRead
      sum.output += row.output
      if (row.costUsd !== null) sum.costUsd = (sum.costUsd ?? 0) + row.costUsd
    },
    happened({ type, data }) {
      if (type === 'handoff_completed') {
        handoffs++
        saved += positiveCount(data.inputTokens)
      } else if (data.outcome === 'completed' || data.outcome === undefined) {
        compactions++
        saved += positiveCount(data.tokensSaved)
      }
    },
    figures() {
      const all = input + cacheCreation + cacheRead
      return {
        sessions: sessions.size,
        steps,
        input_tokens: input,
        output_tokens: sum.output,
        cache_creation_tokens: cacheCreation,
        cache_read_tokens: cacheRead,
        cache_hit_rate: all === 0 ? null : Math.round((cacheRead / all) * 1000) / 1000,
        // Rounded, because the sum of many small amounts has more digits than the client reports.
        cost_usd: sum.costUsd === null ? null : Math.round(sum.costUsd * 1e6) / 1e6,
        compactions,
        handoffs,
        tokens_saved: saved,
      }
    },
  }
  return sum
}

const NO_SPEND = newSum().figures()

const figuresOf = (sum: Sum | undefined): SpendFigures => sum?.figures() ?? NO_SPEND

const positiveCount = (value: unknown): number => (typeof value === 'number' && value > 0 ? Math.round(value) : 0)
