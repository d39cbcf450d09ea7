import type { BriefView, CoverageView } from '../../contract/api/briefs.js'
import type { HandoffView } from '../../contract/api/sessions.js'
import type { BriefRecord, Coverage } from '../../contract/records/brief.js'
import type { HandoffRecord } from '../../contract/records/handoff.js'
import { type HindranceSources, hindranceOf } from '../handoff/missed-orders.js'

export function viewCoverage({ score, missing, unsupported, byKind, claims = [] }: Coverage): CoverageView {
  return { score: Math.round(score * 1000) / 1000, missing, unsupported, claims, by_kind: byKind }
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
