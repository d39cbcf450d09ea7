import type { Session } from '../contract/api/session.js'
import { percentOf } from './percent.js'

type Heat = 'green' | 'yellow' | 'red'
type GaugePaint = (text: string, colour: Heat | 'dim') => string

/** Percentage of the default handoff level, for sessions without a level that asks for a handoff. */
const USUAL_HANDOFF = 85
/** Of the way to the handoff level: 70 % of the compaction point where the level stands at 85 %. */
const YELLOW = 70 / 85

/** The handoff level in percent of the compaction point; null when there is none to mark. */
export function handoffPercent({
  handoff_tokens: at,
  compaction_tokens: point,
}: Pick<Session, 'handoff_tokens' | 'compaction_tokens'>): number | null {
  return percentOf(at, point)
}

/** Red from the handoff level on. */
export function heatAt(percent: number, handoff: number | null): Heat {
  const red = handoff ?? USUAL_HANDOFF
  return percent >= red ? 'red' : percent >= red * YELLOW ? 'yellow' : 'green'
}

/** A bar of `cells` cells in which `┃` marks the handoff level. */
export function gaugeBar(
  percent: number,
  handoff: number | null,
  cells: number,
  paint: GaugePaint,
  [full, empty, mark]: readonly [string, string, string] = ['▰', '▱', '┃'],
): string {
  const filled = Math.min(cells, Math.max(0, Math.round((percent / 100) * cells)))
  const marked = handoff === null ? -1 : Math.min(cells - 1, Math.floor((handoff / 100) * cells))
  const drawn = Array.from({ length: cells }, (_, cell) =>
    cell === marked ? mark : cell < filled ? full : empty,
  ).join('')
  return paint(drawn.slice(0, filled), heatAt(percent, handoff)) + paint(drawn.slice(filled), 'dim')
}
