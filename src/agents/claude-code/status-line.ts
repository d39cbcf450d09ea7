import type { Reading } from '../../contract/reading.js'
import type { PlanLimit } from '../../contract/signal.js'
import { count, type Fields, number, object, text } from './fields.js'
import { measureUsage } from './usage.js'

export interface StatusLine {
  reading: Reading
  window: number | null
  costUsd: number | null
  planLimits: PlanLimit[] | null
  model: string | null
  version: string | null
  project: string | null
}

/** What the client hands its status line. After a compaction it reports zeros, which mean "not known yet", never "empty". */
export function readStatusLine(body: Fields): StatusLine {
  const context = object(body.context_window)
  const cost = object(body.cost)
  const model = text(object(body.model)?.id)
  const measured = measureUsage(context?.current_usage)
  const total = measured === null ? count(context?.total_input_tokens) : measured.used
  return {
    reading: {
      used: total === 0 ? null : total,
      usage: measured === null || measured.used === null ? null : measured.usage,
      exact: measured?.exact ?? true,
      model,
      source: 'status-line',
      answerId: null,
      stamp: number(cost?.total_duration_ms),
    },
    window: count(context?.context_window_size) || null,
    costUsd: number(cost?.total_cost_usd),
    planLimits: planLimits(body.rate_limits),
    model,
    version: text(body.version),
    project: text(object(body.workspace)?.project_dir),
  }
}

function planLimits(value: unknown): PlanLimit[] | null {
  const limits = object(value)
  if (limits === null) return null
  const found: PlanLimit[] = []
  for (const [name, entry] of Object.entries(limits)) {
    const usedPercent = number(object(entry)?.used_percentage)
    if (usedPercent !== null) found.push({ name, usedPercent, resetsAt: moment(object(entry)?.resets_at) })
  }
  return found.length > 0 ? found : null
}

/** The client writes seconds since the epoch or an ISO time, depending on the limit. */
function moment(value: unknown): string | null {
  const seconds = number(value)
  const date = seconds !== null ? new Date(seconds * 1000) : new Date(text(value) ?? Number.NaN)
  return Number.isNaN(date.getTime()) ? null : date.toISOString()
}
