import type { Event } from '../../../../src/contract/event.js'
import type { LiveState } from '../../live/live.js'

const COUNTED: ReadonlySet<Event['type']> = new Set(['session_started', 'compaction_complete', 'handoff_completed'])

/** Another one when something has happened that a history counts; '': nothing was heard yet. */
export function spentMark({ spendToday, feed }: Pick<LiveState, 'spendToday' | 'feed'>): string {
  if (spendToday === null) return ''
  const { cost_usd, input_tokens, output_tokens } = spendToday
  return [cost_usd, input_tokens, output_tokens, feed.findLast(({ type }) => COUNTED.has(type))?.id].join(' ')
}
