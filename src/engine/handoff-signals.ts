import type { Draft } from './draft.js'
import { mayHandOver, openHandoff } from './handoffs.js'

/** A compaction is held up only where a handoff can really follow, and never one a person asked for. */
function mayBlock(draft: Draft): boolean {
  const { policy, record, signal } = draft
  return (
    policy.compaction === 'block-and-hand-off' &&
    // Nobody can tell when it would follow.
    policy.handoff.reviewSeconds !== 'approval' &&
    signal.compaction?.trigger === 'auto' &&
    draft.takesOrders &&
    mayHandOver(draft) &&
    record.compaction !== null
  )
}

/** The signal moves a handoff on. */
export function moveHandoffs(draft: Draft): void {
  const { signal } = draft
  if (signal.subagent || draft.record.jobId !== null) return
  const { parts, agent, record } = draft
  if (signal.kind === 'compact-start' && mayBlock(draft)) parts.around().blockAndHandOver(draft)
  const mayType = draft.enabled && record.attended === true && (signal.kind === 'prompt' || signal.kind === 'turn-end')
  const typed = mayType ? (agent.takeRequest?.(parts.liveDir, record.sessionId) ?? null) : null
  if (typed === null && openHandoff(draft) === null) return
  const around = parts.around()
  around.followHandoff(draft)
  if (typed !== null) around.takeTyped(draft, typed)
  if (signal.kind === 'turn-end' || signal.kind === 'turn-failed') around.handOverAtTurnEnd(draft)
  if (signal.kind === 'session-end' && signal.end?.reason !== 'clear') around.handOverAtSessionEnd(draft)
}

/** null: it may come about. */
export function vetoed({ agent, signal, veto }: Draft): string | null {
  return veto === '' ? null : (agent.block?.(signal.event, veto) ?? null)
}

/** null: there is nothing to insist on, or this event's answer does not make the agent go on. */
export function insisted({ agent, signal, insistence }: Draft): string | null {
  return insistence === '' ? null : (agent.insist?.(signal.event, insistence) ?? null)
}
