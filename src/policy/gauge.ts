import type { Session } from '../contract/api/session-view.js'
import { percentOf } from './percent.js'

type GaugeColour = 'green' | 'yellow' | 'red'
type GaugePaint = (text: string, colour: GaugeColour | 'dim') => string

/** Percentage of the default handoff level, for sessions in which no level asks for a handoff. */
const USUAL_HANDOFF = 85
/** Share of the way to the handoff level: 70 % of the compaction point for a level at 85 %. */
const YELLOW = 70 / 85

/**
 * Returns the handoff level in percent of the compaction point. Null when there is none to mark.
 */
export function handoffPercent({
  handoff_tokens: at,
  compaction_tokens: point,
}: Pick<Session, 'handoff_tokens' | 'compaction_tokens'>): number | null {
  return percentOf(at, point)
}

/** Returns the colour of a percentage: red from the handoff level on. */
export function gaugeColour(percent: number, handoff: number | null): GaugeColour {
  const red = handoff ?? USUAL_HANDOFF
  return percent >= red ? 'red' : percent >= red * YELLOW ? 'yellow' : 'green'
}

/** Draws a bar of `cells` cells in which `┃` marks the handoff level. */
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
  return paint(drawn.slice(0, filled), gaugeColour(percent, handoff)) + paint(drawn.slice(filled), 'dim')
}
