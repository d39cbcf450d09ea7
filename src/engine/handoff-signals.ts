import type { HandoffRecord } from '../contract/handoff.js'
import type { Draft } from './draft.js'
import { isToLeave, mayHandOver, openHandoff } from './handoffs.js'
import { queue } from './messages.js'

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
    record.compaction !== null &&
    leavesByItself(draft, openHandoff(draft))
  )
}

/** False: nobody but the person can carry it out, or it is the one that led to this session. */
function leavesByItself(draft: Draft, handoff: HandoffRecord | null): boolean {
  if (handoff === null || handoff.offered) return true
  const { state, failedWays, dueAt } = handoff
  if (!isToLeave(draft, handoff) || (state === 'review' && dueAt === null)) return false
  return state === 'clearing' || !failedWays.includes('mod')
}

/** What the person asked for inside the client, once, whoever looks; null: nothing. It is gone only with what is made of it. */
function typedRequest(draft: Draft): { words: string } | null {
  const { parts, agent, record, enabled, signal, at } = draft
  if (record.attended !== true || (signal.kind !== 'prompt' && signal.kind !== 'turn-end')) return null
  const { sessionId, seatId } = record
  const typed = agent.readRequest?.(parts.liveDir, sessionId) ?? null
  if (typed === null) return null
  parts.store.afterCommit(() => agent.dropRequest?.(parts.liveDir, sessionId, typed.at))
  if (!parts.store.takeOnce(`request.${sessionId}.${typed.at}`, at)) return null
  if (enabled) return typed
  // Kept, it would come about whenever somebody switches Baton on again.
  const text = `[baton] Baton is off for this session, and /handoff does nothing. baton on ${sessionId.slice(0, 8)} lets it act again; then type /handoff once more.`
  queue(draft, { category: 'handoff', mode: 'sequential', agent_text: null, user_text: text }, { seatId, sessionId })
  return null
}

/** The signal moves a handoff on. */
export function moveHandoffs(draft: Draft): void {
  const { signal, parts } = draft
  if (signal.subagent || draft.record.jobId !== null) return
  if (signal.kind === 'compact-start' && mayBlock(draft)) parts.around().blockAndHandOver(draft)
  const typed = typedRequest(draft)
  if (typed === null && openHandoff(draft) === null) return
  const around = parts.around()
  if (!draft.enabled) around.stopHandoff(draft, 'Baton was switched off')
  around.followHandoff(draft)
  if (typed !== null) around.takeTyped(draft, typed)
  const open = openHandoff(draft)
  if (open !== null && isToLeave(draft, open) && signal.kind !== 'session-end') around.lookAtOrder(draft, open)
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
