import { laterFactsText } from '../../briefs/complete-brief.js'
import type { HandoffRecord } from '../../contract/records/handoff.js'
import type { SessionContext } from '../context.js'
import { type HandoffChange, updateHandoff } from '../handoff/handoff-transitions.js'
import { addQuestion, coverageOf } from '../handoff/make-brief.js'
import { briefMaterial } from './brief-sources.js'
import type { ReadFacts } from './read-facts.js'

/**
 * Adds work done after a brief to the brief's addendum. The brief itself never changes.
 * Work after a brief exists if the brief was reviewed first or the session could not be cleared.
 * `read`: facts of the session that were read before the store was locked.
 */
export function addLateFindings(
  context: SessionContext & { read?: ReadFacts | null },
  handoff: HandoffRecord,
): HandoffRecord {
  const { deps, at } = context
  const brief = handoff.briefId === null ? null : deps.store.brief(handoff.briefId)
  if (!handoff.stale || brief === null) return handoff
  const change: HandoffChange = { stale: false }
  try {
    const read = context.read?.sessionId === handoff.sessionId ? context.read : null
    const material = addQuestion(briefMaterial({ ...context, read }), handoff)
    const body = material.keeper.read(brief)
    const facts = material.facts.filter(({ line }) => line > (handoff.upTo ?? 0))
    const coverage = coverageOf(context, { ...material, facts }, body ?? '')
    const missing = coverage?.missing ?? []
    if (body !== null && missing.length > 0) {
      const addendum = material.keeper.addFinding(brief, at, laterFactsText(missing))
      deps.store.putBrief({ ...brief, addenda: [...brief.addenda, addendum] })
    }
    if (coverage !== null) change.upTo = lastLine(material.facts)
  } catch (error) {
    // Without the later work, the brief is still usable.
    deps.log('warn', 'what happened since a brief could not be added to it', {
      brief: brief.briefId,
      reason: String(error),
    })
  }
  return updateHandoff(context, handoff, change)
}

/** Returns the last transcript line that a brief made from these facts covers. */
export function lastLine(facts: readonly { line: number }[]): number {
  return facts.reduce((last, { line }) => Math.max(last, line), 0)
}
