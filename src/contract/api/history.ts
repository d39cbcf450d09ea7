import * as v from 'valibot'
import { type Routes, whole, words } from './route.js'
import { count, figure, maybe, text } from './shapes.js'

const figures = {
  /** Those that spent something. */
  sessions: count,
  steps: count,
  input_tokens: count,
  output_tokens: count,
  cache_creation_tokens: count,
  cache_read_tokens: count,
  cache_hit_rate: maybe(figure),
  /** null: no client said what it cost. */
  cost_usd: maybe(figure),
  compactions: count,
  handoffs: count,
  /** What compactions and handoffs took out of windows. */
  tokens_saved: count,
}

export type HistoryFigures = v.InferOutput<v.ObjectSchema<typeof figures, undefined>>

export const history = v.object({
  timezone: text,
  /** Newest last; days without anything are there with zeros. */
  days: v.array(v.object({ date: text, ...figures })),
  projects: v.array(v.object({ project: maybe(text), ...figures })),
  models: v.array(v.object({ model: maybe(text), ...figures })),
  totals: v.object(figures),
  /** The first day of which anything was recorded; null: none. */
  since: maybe(text),
})
export type History = v.InferOutput<typeof history>

/** The route of spend by day. */
export const historyRoutes = {
  history: {
    method: 'get',
    path: '/api/history',
    summary: 'Spend and sessions by day, project and model',
    query: { days: v.optional(whole(1, 400)), timezone: words },
    reply: history,
  },
} as const satisfies Routes
