import type { Session } from '../contract/session.js'
import { percentText, short } from './numbers.js'

const CELLS = 10

export type Paint = (text: string, colour: 'green' | 'yellow' | 'red' | 'dim') => string

/** The status line's segment: a bar against the compaction point, the figure, and why it is not of the usual kind. */
export function statusText(session: Session, paint: Paint): string {
  if (!session.enabled) return paint('baton off', 'dim')
  const { used_tokens: used, compaction_tokens: point, window_tokens: window } = session
  if (used === null) return paint(point === null ? 'ctx –' : `ctx – of ${short(point)}`, 'dim')
  const whole = point ?? window
  if (whole === null) return `ctx ${short(used)}`
  const percent = point === null ? session.used_percent : session.compaction_percent
  if (percent === null) return `ctx ${short(used)}`
  const colour = percent >= 85 ? 'red' : percent >= 70 ? 'yellow' : 'green'
  const filled = Math.min(CELLS, Math.max(0, Math.round((percent / 100) * CELLS)))
  const bar = paint('▰'.repeat(filled), colour) + paint('▱'.repeat(CELLS - filled), 'dim')
  const end = point === null ? 'of window' : session.compaction_mode === 'off' ? 'of refusal point' : 'of compaction point'
  const about = point !== null && !session.exact ? '~' : ''
  const notes = [
    percent > 100 ? beyond(session) : null,
    session.level,
    session.compactions > 0 ? `compacted ${session.compactions}×` : null,
  ].filter((note) => note !== null)
  const tail = notes.length > 0 ? paint(` · ${notes.join(' · ')}`, 'dim') : ''
  return `${bar} ${paint(percentText(percent), colour)} ${end} ${paint(`${short(used)}/${about}${short(whole)}`, 'dim')}${tail}`
}

/** Why a figure is above 100 %. */
function beyond({ compaction_tokens: point, compaction_mode: mode }: Session): string {
  if (point === null) return 'window larger than known'
  if (mode === 'reactive') return 'compacts when refused'
  return mode === 'off' ? 'may be refused' : 'compacts next'
}
