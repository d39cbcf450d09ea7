import { factsOfBrief } from '../../briefs/brief-facts.js'
import type { BriefFiles } from '../../briefs/brief-keeper.js'
import { usersFacts } from '../../briefs/needed-facts.js'
import { LATE_FINDINGS_TITLE } from '../../briefs/sections.js'
import type { Fact } from '../../contract/fact.js'
import { factKey } from '../../facts/fact-key.js'
import { prepareText } from '../../facts/prepared-text.js'
import { rankFacts } from '../../facts/rank.js'
import type { SessionContext } from '../context.js'

/**
 * Returns the facts that bind a session through the briefs that it was given.
 * These are the user's requests in earlier sessions and the contents of the briefs:
 * constraints, decisions, next steps and open questions.
 * Of a brief file that is missing or changed, only the facts kept in the store count.
 */
export function factsOfGivenBriefs(
  { deps, record }: Pick<SessionContext, 'deps' | 'record'>,
  keeper: BriefFiles,
): Fact[] {
  const briefs = deps.store.briefsUsedBy(record.sessionId)
  if (briefs.length === 0) return []
  const said = briefs.flatMap(({ lasting }) => lasting ?? [])
  const carrier = prepareText(said.map(({ text }) => text).join('\n\n'), said)
  const texts = briefs.flatMap((brief) => [
    keeper.read(brief) ?? '',
    ...keeper.lateFindings(brief).map(({ text }) => `## ${LATE_FINDINGS_TITLE}\n\n${text}`),
  ])
  const isCovered = (fact: Fact): boolean =>
    (fact.kind === 'constraint' || fact.kind === 'decision') && carrier.contains(fact)
  const written = texts.flatMap(factsOfBrief).filter((fact) => !isCovered(fact))
  return distinct([...said, ...written])
}

/**
 * Merges a session's own facts with those from earlier briefs, ranked. The session's own fact wins.
 */
export function mergeGivenFacts(handed: readonly Fact[], own: readonly Fact[]): Fact[] {
  if (handed.length === 0) return [...own]
  // The prompt that began the session is Baton's, not a request of the user.
  const users = usersFacts(own)
  const known = new Set(users.map(factKey))
  const hasRequest = users.some(({ kind }) => kind === 'request')
  const lastRequest = handed.findLast(({ kind }) => kind === 'request')
  const before = handed
    .filter((fact) => !known.has(factKey(fact)))
    .map((fact) =>
      fact.kind === 'request'
        ? { ...fact, detail: { ...fact.detail, last: !hasRequest && fact === lastRequest } }
        : fact,
    )
  return rankFacts([...before, ...users])
}

function distinct(facts: readonly Fact[]): Fact[] {
  return [...new Map(facts.map((fact) => [factKey(fact), fact])).values()]
}
