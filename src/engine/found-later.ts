import type { HandoffRecord } from '../contract/handoff.js'
import { laterText } from '../handoff/complete-brief.js'
import type { Desk } from './draft.js'
import type { ReadFacts } from './read-facts.js'

/**
 * A brief that was not used at once, because a person looked at it or nobody could clear the session, may be older than the work. What
 * happened since is added to it as a late finding; the brief itself never changes. `read`: what was read of the session before the store
 * was locked.
 */
export function addFoundLater(desk: Desk & { read?: ReadFacts | null }, handoff: HandoffRecord): HandoffRecord {
  const { parts, at } = desk
  const brief = handoff.briefId === null ? null : parts.store.brief(handoff.briefId)
  if (!handoff.stale || brief === null) return handoff
  const fresh: HandoffRecord = { ...handoff, stale: false }
  try {
    const around = parts.around()
    const ground = around.briefGround({ ...desk, read: desk.read?.sessionId === handoff.sessionId ? desk.read : null })
    const body = around.readBrief(parts, brief)
    const facts = ground.facts.filter(({ line }) => line > (handoff.upTo ?? 0))
    const coverage = around.coverageOf(desk, { ...ground, facts }, body ?? '')
    const missing = coverage?.missing ?? []
    if (body !== null && missing.length > 0) {
      const addendum = ground.keeper.add(brief, at, laterText(missing))
      parts.store.putBrief({ ...brief, addenda: [...brief.addenda, addendum] })
    }
    if (coverage !== null) fresh.upTo = lastLine(ground.facts)
  } catch (error) {
    // The brief is still the best there is.
    parts.log('warn', 'what happened since a brief could not be added to it', { brief: brief.briefId, reason: String(error) })
  }
  parts.store.putHandoff(fresh)
  return fresh
}

/** Up to where of the transcript a brief made from these speaks. */
export function lastLine(facts: readonly { line: number }[]): number {
  return facts.reduce((last, { line }) => Math.max(last, line), 0)
}
