import type { BriefRecord, Coverage } from '../../contract/records/brief.js'
import type { HandoffRecord } from '../../contract/records/handoff.js'
import { type HindranceSources, hindranceOf } from '../handoff/missed-orders.js'

export interface HandoffView {
  handoff_id: string
  seat_id: string
  session_id: string
  state: HandoffRecord['state']
  state_at: string
  /**
   * Time at which the handoff continues by itself or is checked again.
   * Null when it waits for an action.
   */
  due_at: string | null
  cause: HandoffRecord['cause']
  level: string | null
  reason: string | null
  requested_at: string
  brief_id: string | null
  way: HandoffRecord['way']
  new_session_id: string | null
  number: number
  trouble: string | null
  /**
   * Reason why the client is not cleared yet: turn, dialog, draft, background or subagent.
   * Null when there is none or it is not reported.
   */
  hindered_by: string | null
}

export interface BriefView {
  brief_id: string
  seat_id: string
  session_id: string
  /** Title of the session. Null when it has none. */
  title: string | null
  parent_brief_id: string | null
  sequence: number
  author: BriefRecord['author']
  status: BriefRecord['status']
  reason: string | null
  agent: string
  model: string | null
  project: string | null
  branch: string | null
  commit: string | null
  used_tokens: number | null
  compaction_tokens: number | null
  taken_at: string
  path: string
  sha256: string
  /** Null when there was nothing to check the brief against. */
  coverage: CoverageView | null
  used_at: string | null
  used_by_session_id: string | null
  addenda: { at: string; path: string }[]
}

export interface CoverageView extends Pick<Coverage, 'score' | 'missing' | 'unsupported'> {
  by_kind: Coverage['byKind']
}

export function viewCoverage({ score, missing, unsupported, byKind }: Coverage): CoverageView {
  return { score: Math.round(score * 1000) / 1000, missing, unsupported, by_kind: byKind }
}

/** Returns a brief as commands and routes show it. Its text is in its file. */
export function viewBrief(brief: BriefRecord): BriefView {
  return {
    brief_id: brief.briefId,
    seat_id: brief.seatId,
    session_id: brief.sessionId,
    title: brief.title ?? null,
    parent_brief_id: brief.parentBriefId,
    sequence: brief.sequence,
    author: brief.author,
    status: brief.status,
    reason: brief.reason,
    agent: brief.agent,
    model: brief.model,
    project: brief.project,
    branch: brief.branch,
    commit: brief.commit,
    used_tokens: brief.usedTokens,
    compaction_tokens: brief.compactionTokens,
    taken_at: brief.takenAt,
    path: brief.path,
    sha256: brief.sha256,
    coverage: brief.coverage === null ? null : viewCoverage(brief.coverage),
    used_at: brief.usedAt,
    used_by_session_id: brief.usedBySessionId,
    addenda: brief.addenda.map(({ at, path }) => ({ at, path })),
  }
}

/** Returns a handoff as commands and routes show it. `hinderedBy`: see `hindranceOf`. */
export function viewHandoff(handoff: HandoffRecord, hinderedBy: string | null = null): HandoffView {
  return {
    handoff_id: handoff.handoffId,
    seat_id: handoff.seatId,
    session_id: handoff.sessionId,
    state: handoff.state,
    state_at: handoff.stateAt,
    due_at: handoff.dueAt,
    cause: handoff.cause,
    level: handoff.level,
    reason: handoff.reason,
    requested_at: handoff.requestedAt,
    brief_id: handoff.briefId,
    way: handoff.way,
    new_session_id: handoff.newSessionId,
    number: handoff.number,
    trouble: handoff.trouble,
    hindered_by: hinderedBy,
  }
}

/** Returns the open handoff of a seat, else null. */
export function openHandoffView(lookout: HindranceSources, seatId: string): HandoffView | null {
  const open = lookout.store.openHandoffs({ seatId }).at(-1)
  return open ? viewHandoff(open, hindranceOf(lookout, open)) : null
}
