import type { Session } from '../../contract/api/session.js'
import { gaugeBar, gaugeColour, handoffPercent } from '../../policy/gauge.js'
import type { Colour, Paint } from './screen.js'

type Marked = Pick<Session, 'handoff_tokens' | 'compaction_tokens'>

/** The same bounds as the status line's. */
export function heat(percent: number, session: Marked | null = null): Colour {
  return gaugeColour(percent, session && handoffPercent(session))
}

/**
 * A bar of `cells` cells; dots where the figure is not known, because an empty bar would say 0. With a session its
 * handoff level is marked.
 */
export function bar(percent: number | null, cells: number, paint: Paint, session: Marked | null = null): string {
  if (percent === null) return paint('·'.repeat(cells), 'dim')
  return gaugeBar(percent, session && handoffPercent(session), cells, paint)
}
