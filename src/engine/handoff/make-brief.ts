import type { BriefFiles } from '../../briefs/brief-keeper.js'
import { checkBrief, type NeededCalls } from '../../briefs/check-brief.js'
import { completeBrief } from '../../briefs/complete-brief.js'
import { type Repository, writeBriefByCode } from '../../briefs/mechanical-brief.js'
import { lastingFacts, usersFacts } from '../../briefs/needed-facts.js'
import type { Fact } from '../../contract/fact.js'
import type { BriefAuthor, BriefOrigin, BriefRecord, Coverage } from '../../contract/records/brief.js'
import type { HandoffRecord } from '../../contract/records/handoff.js'
import { keyOf } from '../../facts/key-of.js'
import { questionsOf } from '../../facts/questions.js'
import { handedFacts } from '../compaction/handed-facts.js'
import type { SessionContext } from '../context.js'

/** What a brief is made from, beside the text. */
export interface BriefMaterial {
  keeper: BriefFiles
  facts: readonly Fact[]
  /** What the agent said last, as far as the transcript tells; null: not known. */
  lastAnswer: string | null
  /** Whether a text can be compared with the facts: all of the transcript was read. */
  whole: boolean
  repository: Repository | null
}

/**
 * The ground of a brief, with the question its session ended with: at the end of a turn the
 * transcript may lack the last answer.
 */
export function addQuestion(material: BriefMaterial, { question }: Pick<HandoffRecord, 'question'>): BriefMaterial {
  if (!question) return material
  const line = material.facts.reduce((last, fact) => Math.max(last, fact.line), 0)
  const known = new Set(material.facts.map(keyOf))
  const asked = questionsOf(question)
    .map((text): Fact => ({ kind: 'question', text, line, at: null, state: 'open', detail: { by: 'agent' } }))
    .filter((fact) => !known.has(keyOf(fact)))
  return { ...material, facts: [...material.facts, ...asked] }
}

/** How much of what happened a text carries; null: there is nothing to compare it with, which says nothing about the text. */
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
  return checkBrief(body, allFacts(context, material), readings, { earlier, dirty }, calls)
}

const NO_CALLS: NeededCalls = { calls: [], path: null }

/** A brief the agent or a person wrote, completed by what it lacks. Inside a transaction. */
export function takeBrief(
  context: SessionContext,
  material: BriefMaterial,
  given: { body: string; author: BriefAuthor; reason: string | null; coverage?: Coverage | null },
): BriefRecord {
  const coverage = given.coverage === undefined ? coverageOf(context, material, given.body) : given.coverage
  return keep(context, material, {
    ...given,
    coverage,
    body: coverage === null ? given.body : completeBrief(given.body, coverage),
  })
}

/** A brief from transcript and repository alone. Inside a transaction. */
export function writeBrief(
  context: SessionContext,
  material: BriefMaterial,
  about: { reason: string | null; lastAnswer: string | null; appendix?: Appendix },
): BriefRecord {
  const own = keptBrief(context)
  // Made a moment ago with the same signal, before anybody knew that it is wanted now.
  if (own?.takenAt === context.at && about.appendix === undefined) {
    const wanted: BriefRecord = { ...own, status: 'checked' }
    context.deps.store.putBrief(wanted)
    return wanted
  }
  return write(context, material, about, 'checked')
}

/**
 * A brief nobody asked for: before a compaction, at an end, after a crash. No handoff holds it; it is there for whoever needs it (`written`),
 * in the place of the last one of its kind. Inside a transaction.
 */
export function keepOwnBrief(context: SessionContext, material: BriefMaterial, about: { reason: string }): BriefRecord {
  const earlier = keptBrief(context)
  const brief = write(context, material, { reason: about.reason, lastAnswer: null }, 'written')
  if (earlier !== null) context.deps.store.putBrief({ ...earlier, status: 'superseded' })
  return brief
}

/** The brief Baton wrote of this session of its own accord; null: none, or it was used or cancelled. */
export function keptBrief({ deps, record }: Pick<SessionContext, 'deps' | 'record'>): BriefRecord | null {
  const briefs = deps.store.briefs({ sessionId: record.sessionId })
  return briefs.findLast(({ author, status }) => author === 'baton' && status === 'written') ?? null
}

function write(
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
  const coverage = coverageOf(context, material, body, appendix)
  return keep(context, material, { body, author: 'baton', reason, coverage }, status)
}

/** The part of a brief by code beside the facts: whole sections, and the calls that they list. */
type Appendix = NeededCalls & { text: string }

const PARTIAL = 'The transcript could not be read whole in time: what was said in its middle is not in it.'

function keep(
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

/** Of this session, and what still holds of those whose briefs it was given. */
function allFacts(context: Pick<SessionContext, 'deps' | 'record'>, { facts, keeper }: BriefMaterial): readonly Fact[] {
  const handed = handedFacts(context, keeper)
  // Facts that the prompt with the brief repeats are not the session's own: they do not stand for the handed ones.
  const known = new Set(usersFacts(facts).map(keyOf))
  return handed.length === 0 ? facts : [...handed.filter((fact) => !known.has(keyOf(fact))), ...facts]
}

/** The brief this session was given last, else its seat. */
function parentOf({ deps, record }: Pick<SessionContext, 'deps' | 'record'>): BriefRecord | null {
  const own = deps.store.briefsUsedBy(record.sessionId).at(-1)
  return own ?? deps.store.briefs({ seatId: record.seatId }).findLast(({ status }) => status === 'used') ?? null
}
