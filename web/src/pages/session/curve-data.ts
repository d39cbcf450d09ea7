import type { ReadingColumns } from '../../../../src/contract/api/sessions.js'
import type { Event } from '../../../../src/contract/records/event.js'
import { type Severity, severityOf } from '../../parts/severity.js'

/** Seconds, tokens used, the compaction point: what is drawn. A cycle's end breaks the line. */
export type CurveData = [at: number[], used: (number | null)[], point: (number | null)[]]

export interface Live {
  at: number
  used: number
  cycle: number
  point: number | null
}

/** The climb as it was asked for, and what came after it. */
export function curveData(columns: ReadingColumns | null, live: readonly Live[]): CurveData {
  const data: CurveData = [[], [], []]
  let cycle: number | null = null
  let last = Number.NEGATIVE_INFINITY
  const add = (at: number, used: number, its: number, point: number | null): void => {
    if (at <= last) return
    if (cycle !== null && its !== cycle) push(data, last / 1_000 + 0.001, null, point)
    cycle = its
    last = at
    push(data, at / 1_000, used, point)
  }
  columns?.at.forEach((at, n) => {
    add(at, columns.used_tokens[n]!, columns.cycle[n]!, columns.compaction_tokens[n]!)
  })
  for (const { at, used, cycle: its, point } of live) add(at, used, its, point)
  return data
}

function push([at, used, point]: CurveData, x: number, y: number | null, p: number | null): void {
  at.push(x)
  used.push(y)
  point.push(p)
}

/** Something that happened on the way, at its place in the climb. */
export interface Mark {
  at: number
  kind: 'warning' | 'compaction' | 'handoff'
  label: string
  severity: Severity
  /** Where on the climb; null: it is drawn over the whole height. */
  used: number | null
}

export function marksOf(events: readonly Event[]): Mark[] {
  return events.flatMap((event): Mark[] => {
    const { data } = event
    const at = Date.parse(event.at) / 1_000
    switch (event.type) {
      case 'context_warning': {
        const level = typeof data.level === 'string' ? data.level : 'warning'
        const used = typeof data.usedTokens === 'number' ? data.usedTokens : null
        const percent = typeof data.contextUsedPercent === 'number' ? data.contextUsedPercent : null
        return [{ at, kind: 'warning', label: level, severity: severityOf(level, percent), used }]
      }
      // Its end may be told much later: the new cycle begins where the climb falls.
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

const ALONE_S = 30

/** From when to when a lone reading is shown: a moment has no length, and nothing could be read off it. null: there are more, or none. */
export const spanOfLone = ([at]: CurveData): { min: number; max: number } | null =>
  at.length === 1 ? { min: at[0]! - ALONE_S, max: at[0]! + ALONE_S } : null

/** The place of the reading nearest to a time; null: there is none. */
export function nearest(at: readonly number[], used: readonly (number | null)[], time: number): number | null {
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
