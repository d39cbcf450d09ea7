import type { Settings } from '../../../../src/contract/api/settings.js'

export type LevelRule = Settings['levels'][number]

export interface Placed {
  level: LevelRule
  /** From 0 to 100, of the compaction point. */
  percent: number
}

/**
 * Where levels stand on the gauge. Without a session nobody knows a compaction point: then only those that are written as a part of it
 * have a place.
 */
export function placeLevels(levels: readonly LevelRule[], point: number | null): Placed[] {
  return levels
    .flatMap((level) => {
      const percent = percentOf(level, point)
      return percent === null || percent <= 0 || percent >= 100 ? [] : [{ level, percent }]
    })
    .sort((a, b) => a.percent - b.percent)
}

function percentOf({ at_tokens: at, rule }: LevelRule, point: number | null): number | null {
  if (point !== null) return at === null || point === 0 ? null : (at / point) * 100
  const written = /^\s*(\d+(?:\.\d+)?)\s*%\s*(?:of compaction)?\s*$/i.exec(rule)
  return written === null ? null : Number(written[1])
}

/** In which row each label stands so that none covers another: the first that is free. `widths` and `width` in one unit. */
export function rowsOf(percents: readonly number[], widths: readonly number[], width: number): number[] {
  const ends: number[] = []
  return percents.map((percent, n) => {
    const half = widths[n]! / 2
    const middle = Math.min(Math.max((percent / 100) * width, half), width - half)
    const row = ends.findIndex((end) => end + 8 <= middle - half)
    const chosen = row < 0 ? ends.length : row
    ends[chosen] = middle + half
    return chosen
  })
}
