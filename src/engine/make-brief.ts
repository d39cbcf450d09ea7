import type { BriefAuthor, BriefOrigin, BriefRecord, Coverage } from '../contract/brief.js'
import type { Fact } from '../contract/fact.js'
import { checkBrief } from '../handoff/check-brief.js'
import { completeBrief } from '../handoff/complete-brief.js'
import { lastingFacts } from '../handoff/lasting-facts.js'
import { mechanicalBrief, type Repository } from '../handoff/mechanical-brief.js'
import type { Desk } from './draft.js'

/** Keeps the text of briefs; `briefs/` does, house.ts passes it in. */
export interface BriefKeeper {
  keep(origin: BriefOrigin, body: string): { path: string; sha256: string }
  /** null: it is gone, or somebody has changed it. */
  read(brief: Pick<BriefRecord, 'path' | 'sha256'>): string | null
  /** A late finding. Throws when it cannot be kept. */
  add(brief: BriefRecord, at: string, text: string): BriefRecord['addenda'][number]
  /** Late findings as they were kept, oldest first; those that are gone or were changed are left out. */
  late(brief: BriefRecord): LateFinding[]
}

export interface LateFinding {
  text: string
  path: string
}

/** What a brief is made from, beside the text. */
export interface BriefGround {
  keeper: BriefKeeper
  facts: readonly Fact[]
  /** What the agent said last, as far as the transcript tells; null: not known. */
  lastAnswer: string | null
  /** Whether a text can be compared with the facts: all of the transcript was read. */
  whole: boolean
  repository: Repository | null
}

/** How much of what happened a text carries; null: there is nothing to compare it with, which says nothing about the text. */
export function coverageOf(desk: Pick<Desk, 'parts' | 'record'>, ground: BriefGround, body: string): Coverage | null {
  if (!ground.whole) return null
  const { parts, record } = desk
  const readings = parts.store.readings(record.sessionId, 2_000)
  const parent = parentOf(desk)
  const earlier = parent === null ? null : ground.keeper.read(parent)
  return checkBrief(body, allFacts(desk, ground), readings, { earlier, dirty: ground.repository?.dirty ?? [] })
}

/** A brief the agent or a person wrote, completed by what it lacks. Inside a transaction. */
export function takeBrief(
  desk: Desk,
  ground: BriefGround,
  given: { body: string; author: BriefAuthor; reason: string | null; coverage?: Coverage | null },
): BriefRecord {
  const coverage = given.coverage === undefined ? coverageOf(desk, ground, given.body) : given.coverage
  return keep(desk, ground, { ...given, coverage, body: coverage === null ? given.body : completeBrief(given.body, coverage) })
}

/** A brief from transcript and repository alone. Inside a transaction. */
export function writeBrief(
  desk: Desk,
  ground: BriefGround,
  about: { reason: string | null; lastAnswer: string | null },
): BriefRecord {
  const own = keptBrief(desk)
  // Made a moment ago with the same signal, before anybody knew that it is wanted now.
  if (own?.takenAt === desk.at) {
    const wanted: BriefRecord = { ...own, status: 'checked' }
    desk.parts.store.putBrief(wanted)
    return wanted
  }
  return write(desk, ground, about, 'checked')
}

/**
 * A brief nobody asked for: before a compaction, at an end, after a crash. No handoff holds it; it is there for whoever needs it (`written`),
 * in the place of the last one of its kind. Inside a transaction.
 */
export function keepOwnBrief(desk: Desk, ground: BriefGround, about: { reason: string }): BriefRecord {
  const earlier = keptBrief(desk)
  const brief = write(desk, ground, { reason: about.reason, lastAnswer: null }, 'written')
  if (earlier !== null) desk.parts.store.putBrief({ ...earlier, status: 'superseded' })
  return brief
}

/** The brief Baton wrote of this session of its own accord; null: none, or it was used or cancelled. */
export function keptBrief({ parts, record }: Pick<Desk, 'parts' | 'record'>): BriefRecord | null {
  const briefs = parts.store.briefs({ sessionId: record.sessionId })
  return briefs.findLast(({ author, status }) => author === 'baton' && status === 'written') ?? null
}

function write(
  desk: Desk,
  ground: BriefGround,
  { reason, lastAnswer }: { reason: string | null; lastAnswer: string | null },
  status: BriefRecord['status'],
): BriefRecord {
  const told = ground.whole ? reason : [reason, PARTIAL].filter((part) => part !== null).join(' ')
  const body = mechanicalBrief(allFacts(desk, ground), ground.repository, {
    reason: told,
    lastAnswer: lastAnswer ?? ground.lastAnswer,
  })
  return keep(desk, ground, { body, author: 'baton', reason, coverage: coverageOf(desk, ground, body) }, status)
}

const PARTIAL = 'The transcript could not be read whole in time: what was said in its middle is not in it.'

function keep(
  desk: Desk,
  ground: BriefGround,
  given: { body: string; author: BriefAuthor; reason: string | null; coverage: Coverage | null },
  status: BriefRecord['status'] = 'checked',
): BriefRecord {
  const { parts, record, at } = desk
  const { used, limits } = record.track
  const origin: BriefOrigin = {
    briefId: `brief_${parts.newId()}`,
    seatId: record.seatId,
    sessionId: record.sessionId,
    parentBriefId: parentOf(desk)?.briefId ?? null,
    sequence: parts.store.nextBriefSequence(record.seatId),
    author: given.author,
    agent: record.agent,
    model: record.model,
    project: record.project,
    branch: ground.repository?.branch ?? record.branch,
    commit: ground.repository?.commit ?? null,
    usedTokens: used,
    compactionTokens: limits.point,
    takenAt: at,
  }
  const { path, sha256 } = ground.keeper.keep(origin, given.body)
  const brief: BriefRecord = {
    ...{ ...origin, status, reason: given.reason, path, sha256, coverage: given.coverage },
    ...{ usedAt: null, usedBySessionId: null, addenda: [], lasting: lastingFacts(allFacts(desk, ground)) },
  }
  parts.store.putBrief(brief)
  return brief
}

/** Of this session, and what still holds of those whose briefs it was given. */
function allFacts({ parts, record }: Pick<Desk, 'parts' | 'record'>, { facts }: BriefGround): readonly Fact[] {
  const held = parts.store.briefsUsedBy(record.sessionId).flatMap(({ lasting }) => lasting ?? [])
  return held.length === 0 ? facts : [...held, ...facts]
}

/** The brief this session was given last, else its seat. */
function parentOf({ parts, record }: Pick<Desk, 'parts' | 'record'>): BriefRecord | null {
  const own = parts.store.briefsUsedBy(record.sessionId).at(-1)
  return own ?? parts.store.briefs({ seatId: record.seatId }).findLast(({ status }) => status === 'used') ?? null
}
