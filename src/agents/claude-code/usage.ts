import type { Usage } from '../../contract/reading.js'
import { asCount, asList, asObject } from './fields.js'

export interface MeasuredUsage {
  /**
   * Input tokens of the answer, which fill the window.
   * Null when all counts are zero or missing, which means unknown.
   */
  used: number | null
  /** The token counts of the answer. `used` is the sum of all but `output`. */
  usage: Usage
  /** Total token cost of the answer, also over several iterations. */
  spent: Usage
  exact: boolean
}

function counts(value: Record<string, unknown>): Usage {
  return {
    input: asCount(value.input_tokens) ?? 0,
    cacheCreation: asCount(value.cache_creation_input_tokens) ?? 0,
    cacheRead: asCount(value.cache_read_input_tokens) ?? 0,
    output: asCount(value.output_tokens) ?? 0,
  }
}

function fed(usage: Usage): number {
  return usage.input + usage.cacheCreation + usage.cacheRead
}

/**
 * Measures the usage object of one answer.
 * With a server-side tool, the API adds up several model calls within one answer.
 * In such an answer, only the last model call shows how full the window is.
 */
export function measureUsage(value: unknown): MeasuredUsage | null {
  const raw = asObject(value)
  if (raw === null) return null
  const spent = counts(raw)
  if (fed(spent) === 0) return { used: null, usage: spent, spent, exact: true }
  const iterations = asList(raw.iterations)
    .map(asObject)
    .filter((entry) => entry !== null)
  const answers = iterations.filter((entry) => entry.type === undefined || entry.type === 'message')
  const last = answers.at(-1)
  if (last !== undefined) {
    const usage = counts(last)
    if (fed(usage) > 0) return { used: fed(usage), usage, spent, exact: true }
  }
  const server = asObject(raw.server_tool_use)
  const requests = server === null ? 0 : Object.values(server).reduce<number>((sum, n) => sum + (asCount(n) ?? 0), 0)
  return { used: fed(spent), usage: spent, spent, exact: requests === 0 }
}
