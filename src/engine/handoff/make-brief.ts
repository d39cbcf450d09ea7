import type { BriefFiles } from '../../briefs/brief-keeper.js'
import { checkBrief, type NeededCalls } from '../../briefs/check-brief.js'
import { completeBrief } from '../../briefs/complete-brief.js'
import { type Repository, writeBriefByCode } from '../../briefs/mechanical-brief.js'
import { lastingFacts, usersFacts } from '../../briefs/needed-facts.js'
import type { Fact } from '../../contract/fact.js'
import type { BriefAuthor, BriefOrigin, BriefRecord, Coverage } from '../../contract/records/brief.js'
import type { HandoffRecord } from '../../contract/records/handoff.js'
import { factKey } from '../../facts/fact-key.js'
import { questionsOf } from '../../facts/questions.js'
import { factsOfGivenBriefs } from '../compaction/handed-facts.js'
import type { SessionContext } from '../context.js'

/** The facts and other sources of a brief, without its text. */
export interface BriefMaterial {
  keeper: BriefFiles
  facts: readonly Fact[]
  /** The agent's last text according to the transcript. Null when unknown. */
  lastAnswer: string | null
  /** True when the whole transcript was read, so a text can be compared with all facts. */
  whole: boolean
  repository: Repository | null
  /**
   * Reads the transcript to compare a brief's claims with it. Null when it is too long.
   * Absent when there is nothing to compare.
   */
  readTranscript?: () => Buffer | null
}

/**
 * Adds the question that the session ended with to the facts.
 * At turn end the transcript may lack the last answer, which holds the question.
 */
export function addQuestion(material: BriefMaterial, { question }: Pick<HandoffRecord, 'question'>): BriefMaterial {
  if (!question) return material
  const line = material.facts.reduce((last, fact) => Math.max(last, fact.line), 0)
  const known = new Set(material.facts.map(factKey))
  const asked = questionsOf(question)
    .map((text): Fact => ({ kind: 'question', text, line, at: null, state: 'open', detail: { by: 'agent' } }))
    .filter((fact) => !known.has(factKey(fact)))
  return { ...material, facts: [...material.facts, ...asked] }
}

/** Returns how much of the facts a text covers. Null when there are no facts to compare with. */
export function coverageOf(
  context: Pick<SessionContext, 'deps' | 'record'>,
  material: BriefMaterial,
  body: string,
  calls: NeededCalls = NO_CALLS,
): Coverage | null {
  if (!material.whole) return null
  const { deps, record } = context
  const readings = deps.store.readings(record.sessionId, 2_000)
  const parent = parentOf(context)
  const earlier = parent === null ? null : material.keeper.read(parent)
  const dirty = material.repository?.dirty ?? []
  return checkBrief(
    body,
    allFacts(context, material),
    readings,
    { earlier, dirty, transcript: material.readTranscript?.() ?? null },
    calls,
  )
}

const NO_CALLS: NeededCalls = { calls: [], path: null }

/** Stores a brief of the agent or the user and adds missing facts. Call it inside a transaction. */
export function storeGivenBrief(
  context: SessionContext,
  material: BriefMaterial,
  given: { body: string; author: BriefAuthor; reason: string | null; coverage?: Coverage | null },
): BriefRecord {
  const coverage = given.coverage === undefined ? coverageOf(context, material, given.body) : given.coverage
  return storeBrief(context, material, {
    ...given,
    coverage,
    body: coverage === null ? given.body : completeBrief(given.body, coverage),
  })
}

/** Writes a brief from transcript and repository alone. Call it inside a transaction. */
export function storeMechanicalBrief(
  context: SessionContext,
  material: BriefMaterial,
  about: { reason: string | null; lastAnswer: string | null; appendix?: Appendix },
): BriefRecord {
  const own = unrequestedBriefOf(context)
  // Reuse the brief made earlier for the same signal, before a handoff was known to need it.
  if (own?.takenAt === context.at && about.appendix === undefined) {
    const wanted: BriefRecord = { ...own, status: 'checked' }
    context.deps.store.putBrief(wanted)
    return wanted
  }
  return writeOwnBrief(context, material, about, 'checked')
}

/**
 * Writes a brief that was not requested: before a compaction, at a session's end, after a crash.
 * The brief belongs to no handoff. It stays available (`written`) and replaces the last such brief.
 * Call the function inside a transaction.
 */
export function storeUnrequestedBrief(
  context: SessionContext,
  material: BriefMaterial,
  about: { reason: string },
): BriefRecord {
  const earlier = unrequestedBriefOf(context)
  const brief = writeOwnBrief(context, material, { reason: about.reason, lastAnswer: null }, 'written')
  if (earlier !== null) context.deps.store.putBrief({ ...earlier, status: 'superseded' })
  return brief
}

/**
 * Returns the brief Baton wrote on its own for this session.
 * Null when there is none, or it was used or cancelled.
 */
export function unrequestedBriefOf({ deps, record }: Pick<SessionContext, 'deps' | 'record'>): BriefRecord | null {
  const briefs = deps.store.briefs({ sessionId: record.sessionId })
  return briefs.findLast(({ author, status }) => author === 'baton' && status === 'written') ?? null
}

function writeOwnBrief(
  context: SessionContext,
  material: BriefMaterial,
  { reason, lastAnswer, appendix }: { reason: string | null; lastAnswer: string | null; appendix?: Appendix },
  status: BriefRecord['status'],
): BriefRecord {
  const told = material.whole ? reason : [reason, PARTIAL].filter((part) => part !== null).join(' ')
  const facts = writeBriefByCode(allFacts(context, material), material.repository, {
    reason: told,
    lastAnswer: lastAnswer ?? material.lastAnswer,
  })
  const body = appendix === undefined || appendix.text === '' ? facts : `${facts}\n${appendix.text}`
  // Code wrote the text from these facts, so there are no claims to compare.
  const { readTranscript, ...own } = material
  const coverage = coverageOf(context, own, body, appendix)
  return storeBrief(context, material, { body, author: 'baton', reason, coverage }, status)
}

/** Text that code adds to a brief besides the facts: whole sections and the calls they list. */
type Appendix = NeededCalls & { text: string }

const PARTIAL = 'The middle of the transcript is missing, because it could not be read in time.'

function storeBrief(
  context: SessionContext,
  material: BriefMaterial,
  given: { body: string; author: BriefAuthor; reason: string | null; coverage: Coverage | null },
  status: BriefRecord['status'] = 'checked',
): BriefRecord {
  const { deps, record, at } = context
  const { used, limits } = record.track
  const origin: BriefOrigin = {
    briefId: `brief_${deps.newId()}`,
    seatId: record.seatId,
    sessionId: record.sessionId,
    parentBriefId: parentOf(context)?.briefId ?? null,
    sequence: deps.store.nextBriefSequence(record.seatId),
    author: given.author,
    agent: record.agent,
    model: record.model,
    project: record.project,
    branch: material.repository?.branch ?? record.branch,
    commit: material.repository?.commit ?? null,
    usedTokens: used,
    compactionTokens: limits.point,
    takenAt: at,
  }
  const { path, sha256 } = material.keeper.store(origin, given.body)
  const brief: BriefRecord = {
    ...origin,
    status,
    reason: given.reason,
    path,
    sha256,
    coverage: given.coverage,
    title: record.title?.text ?? null,
    usedAt: null,
    usedBySessionId: null,
    addenda: [],
    lasting: lastingFacts(allFacts(context, material)),
  }
  deps.store.putBrief(brief)
  return brief
}

/** Returns the session's facts and the still valid facts from the briefs that it was given. */
function allFacts(context: Pick<SessionContext, 'deps' | 'record'>, { facts, keeper }: BriefMaterial): readonly Fact[] {
  const handed = factsOfGivenBriefs(context, keeper)
  // A prompt that quotes the brief repeats its facts. Those are not the session's own.
  const known = new Set(usersFacts(facts).map(factKey))
  return handed.length === 0 ? facts : [...handed.filter((fact) => !known.has(factKey(fact))), ...facts]
}

/** Returns the last brief given to this session, or else to its seat. */
function parentOf({ deps, record }: Pick<SessionContext, 'deps' | 'record'>): BriefRecord | null {
  const own = deps.store.briefsUsedBy(record.sessionId).at(-1)
  return own ?? deps.store.briefs({ seatId: record.seatId }).findLast(({ status }) => status === 'used') ?? null
}
