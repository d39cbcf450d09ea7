import type { ReadingColumns } from '../../../../src/contract/api/sessions.js'
import type { Event } from '../../../../src/contract/records/event.js'
import { type Severity, severityOf } from '../../parts/severity.js'

/** Chart columns: seconds, used tokens, compaction point. A null breaks the line between cycles. */
export type CurveData = [at: number[], used: (number | null)[], point: (number | null)[]]

export interface LivePoint {
  at: number
  used: number
  cycle: number
  point: number | null
}

/** Merges the fetched readings with the live ones that arrived after them. */
export function curveData(columns: ReadingColumns | null, live: readonly LivePoint[]): CurveData {
  const data: CurveData = [[], [], []]
  let cycle: number | null = null
  let last = Number.NEGATIVE_INFINITY
  const add = (at: number, used: number, readingCycle: number, point: number | null): void => {
    if (at <= last) return
    if (cycle !== null && readingCycle !== cycle) push(data, last / 1_000 + 0.001, null, point)
    cycle = readingCycle
    last = at
    push(data, at / 1_000, used, point)
  }
  columns?.at.forEach((at, n) => {
    add(at, columns.used_tokens[n]!, columns.cycle[n]!, columns.compaction_tokens[n]!)
  })
  for (const { at, used, cycle: readingCycle, point } of live) add(at, used, readingCycle, point)
  return data
}

function push([at, used, point]: CurveData, x: number, y: number | null, p: number | null): void {
  at.push(x)
  used.push(y)
  point.push(p)
}

/** Mark of an event on the curve. */
export interface CurveMark {
  at: number
  kind: 'warning' | 'compaction' | 'handoff'
  label: string
  severity: Severity
  /** Tokens at which the mark is drawn. Null for a mark over the whole height. */
  used: number | null
}

export function curveMarks(events: readonly Event[]): CurveMark[] {
  return events.flatMap((event): CurveMark[] => {
    const { data } = event
    const at = Date.parse(event.at) / 1_000
    switch (event.type) {
      case 'context_warning': {
        const level = typeof data.level === 'string' ? data.level : 'warning'
        const used = typeof data.usedTokens === 'number' ? data.usedTokens : null
        const percent = typeof data.contextUsedPercent === 'number' ? data.contextUsedPercent : null
        return [{ at, kind: 'warning', label: level, severity: severityOf(level, percent), used }]
      }
      // The end of a compaction may be reported much later: use the start of the new cycle.
      case 'cycle_started':
        return data.reason === 'compaction'
          ? [{ at, kind: 'compaction', label: 'compacted', severity: 0, used: null }]
          : []
      case 'handoff_completed':
        return [{ at, kind: 'handoff', label: 'handed over', severity: 0, used: null }]
      default:
        return []
    }
  })
}

const LONE_MARGIN_S = 30

/** Time range for a single reading, which has no width of its own. Null for none or several. */
export const spanOfSingleReading = ([at]: CurveData): { min: number; max: number } | null =>
  at.length === 1 ? { min: at[0]! - LONE_MARGIN_S, max: at[0]! + LONE_MARGIN_S } : null

/** Index of the reading nearest to a time. Null when there are no readings. */
export function nearestReading(at: readonly number[], used: readonly (number | null)[], time: number): number | null {
  let low = 0
  let high = at.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if (at[middle]! < time) low = middle + 1
    else high = middle
  }
  const near = [low - 2, low - 1, low, low + 1].filter((n) => used[n] !== null && used[n] !== undefined)
  return near.sort((a, b) => Math.abs(at[a]! - time) - Math.abs(at[b]! - time))[0] ?? null
}
