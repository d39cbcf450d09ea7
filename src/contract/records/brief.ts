import type { Fact, FactKind } from '../fact.js'

export const BRIEF_STATUSES = [
  'requested',
  'written',
  'checked',
  'review',
  'approved',
  'used',
  'superseded',
  'cancelled',
  'failed',
] as const
export type BriefStatus = (typeof BRIEF_STATUSES)[number]

/**
 * The author of a brief.
 *
 * agent  the agent whose work the brief describes
 * fork   a copy of the agent's session
 * user   a user who edited a brief
 * baton  Baton itself, from the transcript and the repository
 */
export type BriefAuthor = 'agent' | 'fork' | 'user' | 'baton'

/** How much of a session's facts a brief contains. */
export interface Coverage {
  /** Share of the facts in the brief, 0 to 1. Also 1 when the brief need not contain any fact. */
  score: number
  /** Facts that the brief does not contain, most needed first. */
  missing: { kind: FactKind; text: string }[]
  /** Token counts and percentages in the brief that no measurement supports, as written there. */
  unsupported: string[]
  byKind: Partial<Record<FactKind, { total: number; kept: number }>>
  /** Sentences of the brief that the transcript contradicts or does not support. Absent: none. */
  claims?: Claim[]
}

/** A sentence of a brief that claims more than the transcript shows. */
export interface Claim {
  /** The sentence as written. */
  sentence: string
  /** contradicted: the transcript shows otherwise. unproven: the transcript does not show it. */
  verdict: 'contradicted' | 'unproven'
  /** Description of what the transcript shows, with the time if there is one. */
  why: string
}

/** The origin of a brief. The front matter of its file and the store hold the same values. */
export interface BriefOrigin {
  briefId: string
  seatId: string
  sessionId: string
  /** The brief that this seat (terminal or job) received before. Null for the first brief there. */
  parentBriefId: string | null
  /** Number of the brief in its seat (terminal or job), counted from 1. */
  sequence: number
  author: BriefAuthor
  agent: string
  /** Model of the session. Null when unknown. */
  model: string | null
  /** Project folder of the session. Null when unknown. */
  project: string | null
  /** Git branch and commit at that time. Null outside a repository. */
  branch: string | null
  commit: string | null
  /** Tokens that the session used at that time. Null when unknown. */
  usedTokens: number | null
  compactionTokens: number | null
  /** When the brief was written, ISO 8601, UTC. */
  takenAt: string
}

/** The stored record of one brief. Its text is in a file that never changes. */
export interface BriefRecord extends BriefOrigin {
  status: BriefStatus
  /**
   * Why the brief was requested or given, in the caller's own text. Null when no reason was given.
   */
  reason: string | null
  /** Path of the brief's file. */
  path: string
  /** Hash of the whole file. */
  sha256: string
  /** Coverage of the facts. Null when the brief was not checked, or there were no facts. */
  coverage: Coverage | null
  /** When a fresh session began with this brief, and which. Null until then. */
  usedAt: string | null
  usedBySessionId: string | null
  /**
   * The running session to which the brief is being delivered. Absent or null when there is none.
   */
  givenTo?: string | null
  /** Facts found after the brief was written, oldest first, each in a file beside the brief. */
  addenda: { at: string; path: string; sha256: string }[]
  /**
   * Constraints that outlive the session, in the user's own words, for later briefs of the seat.
   * Absent in records of earlier versions.
   */
  lasting?: Fact[]
  /** Title of the session that the brief is about. Absent or null when it has none. */
  title?: string | null
}
