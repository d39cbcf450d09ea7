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
 * Who wrote a brief: the agent whose work it is, a fork of its session, a person who edited it, or Baton by code, from transcript and
 * repository.
 */
export type BriefAuthor = 'agent' | 'fork' | 'user' | 'baton'

/** What stands in a brief of all that happened, and what does not. */
export interface Coverage {
  /** 0 to 1; 1 also when nothing happened that had to be carried. */
  score: number
  /** Most needed first. */
  missing: { kind: FactKind; text: string }[]
  /** Figures of tokens or percentages in the brief that no reading of the session supports, as they are written there. */
  unsupported: string[]
  byKind: Partial<Record<FactKind, { total: number; kept: number }>>
}

/** What stands in a brief's front matter: where it comes from. Equal to what the store keeps of it. */
export interface BriefOrigin {
  briefId: string
  seatId: string
  sessionId: string
  /** The brief this seat was given last before; null: its first. */
  parentBriefId: string | null
  /** 1 for the first brief of a seat. */
  sequence: number
  author: BriefAuthor
  agent: string
  model: string | null
  project: string | null
  branch: string | null
  commit: string | null
  usedTokens: number | null
  compactionTokens: number | null
  /** ISO, UTC. */
  takenAt: string
}

/** Everything the store keeps of one brief. The text itself lies in a file that never changes. */
export interface BriefRecord extends BriefOrigin {
  status: BriefStatus
  /** Why it was asked for or given, in the caller's words; null: not said. */
  reason: string | null
  /** Where its file lies. */
  path: string
  /** Of the whole file. */
  sha256: string
  /** null: not checked yet, or there were no facts to check it against. */
  coverage: Coverage | null
  /** Set once it has begun a fresh session. */
  usedAt: string | null
  usedBySessionId: string | null
  /** The running session it is on its way to, until that has it; absent or null: none. */
  givenTo?: string | null
  /** Late findings, oldest first; each a file of its own beside the brief's. */
  addenda: { at: string; path: string; sha256: string }[]
  /** What holds on beyond its session, in the user's words, for the briefs after it; absent in records of before. */
  lasting?: Fact[]
  /** The title of its session; absent or null: none. */
  title?: string | null
}
