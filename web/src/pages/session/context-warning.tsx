import type { Event } from '../../../../src/contract/event.js'
import { groupedText, percentText } from '../../format.js'
import { LevelMark } from '../../parts/level-mark.js'

/** A level was crossed and told: how much is left before compaction. */
export function ContextWarning({ event: { data } }: { event: Event }) {
  const number = (value: unknown): number | null => (typeof value === 'number' ? value : null)
  const used = number(data.contextUsedPercent)
  const sizes = `${groupedText(number(data.inputTokens))} input + ${groupedText(number(data.cacheTokens))} cache tokens, window ${groupedText(number(data.contextWindow))}`
  return (
    <p className="timeline-warning" title={sizes}>
      <LevelMark level={typeof data.level === 'string' ? data.level : 'warning'} percent={used} />
      <span>{percentText(number(data.contextRemainingPercent))} context remaining before compaction</span>
    </p>
  )
}
