import * as v from 'valibot'
import { optionalText, type Routes, wholeNumber } from './route.js'
import { count, nullable, number, text } from './shapes.js'

const spendFields = {
  /** Number of sessions that spent tokens. */
  sessions: count,
  steps: count,
  input_tokens: count,
  output_tokens: count,
  cache_creation_tokens: count,
  cache_read_tokens: count,
  cache_hit_rate: nullable(number),
  /** Null when no client reported a cost. */
  cost_usd: nullable(number),
  compactions: count,
  handoffs: count,
  /** Tokens that compactions and handoffs removed from context windows. */
  tokens_saved: count,
}

export type SpendFigures = v.InferOutput<v.ObjectSchema<typeof spendFields, undefined>>

/** Spend by day, project and model. */
export const history = v.object({
  timezone: text,
  /** Spend per day, newest last. Days without activity are included with zeros. */
  days: v.array(v.object({ date: text, ...spendFields })),
  projects: v.array(v.object({ project: nullable(text), ...spendFields })),
  models: v.array(v.object({ model: nullable(text), ...spendFields })),
  totals: v.object(spendFields),
  /** First day with a record. Null when nothing was recorded yet. */
  since: nullable(text),
})
export type SpendHistory = v.InferOutput<typeof history>

/** The route of spend by day. */
export const historyRoutes = {
  history: {
    method: 'get',
    path: '/api/history',
    summary: 'Spend and sessions by day, project and model',
    query: { days: v.optional(wholeNumber(1, 400)), timezone: optionalText },
    reply: history,
  },
} as const satisfies Routes
