import type { HistoryFigures } from '../contract/api/history.js'
import type { Event } from '../contract/event.js'
import type { SpendRow } from '../contract/spend.js'

export interface Sum {
  costUsd: number | null
  output: number
  spent(row: SpendRow): void
  happened(event: Event): void
  figures(): HistoryFigures
}

export function sumOf(): Sum {
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
        saved += count(data.inputTokens)
      } else if (data.outcome === 'completed' || data.outcome === undefined) {
        compactions++
        saved += count(data.tokensSaved)
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
        // Of many small amounts: what a client tells has fewer digits.
        cost_usd: sum.costUsd === null ? null : Math.round(sum.costUsd * 1e6) / 1e6,
        compactions,
        handoffs,
        tokens_saved: saved,
      }
    },
  }
  return sum
}

const NOTHING = sumOf().figures()

export const figuresOf = (sum: Sum | undefined): HistoryFigures => sum?.figures() ?? NOTHING

const count = (value: unknown): number => (typeof value === 'number' && value > 0 ? Math.round(value) : 0)
