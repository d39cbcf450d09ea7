import type { Session } from '../../contract/api/session-view.js'
import { gaugeBar, gaugeColour, handoffPercent } from '../../policy/gauge.js'
import type { Colour, Paint } from './screen.js'

type Marked = Pick<Session, 'handoff_tokens' | 'compaction_tokens'>

/** Returns the colour of a fill level, with the same thresholds as the status line. */
export function fillColour(percent: number, session: Marked | null = null): Colour {
  return gaugeColour(percent, session && handoffPercent(session))
}

/**
 * Draws a bar of `cells` cells. An unknown figure is drawn as dots, because an empty bar would mean
 * 0. With a session, its handoff level is marked.
 */
export function fillBar(percent: number | null, cells: number, paint: Paint, session: Marked | null = null): string {
  if (percent === null) return paint('·'.repeat(cells), 'dim')
  return gaugeBar(percent, session && handoffPercent(session), cells, paint)
}
