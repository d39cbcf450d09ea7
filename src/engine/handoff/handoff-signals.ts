import type { HandoffRecord } from '../../contract/records/handoff.js'
import type { SignalContext } from '../context.js'
import { rareWork } from '../load-rare-work.js'
import { queueMessage } from '../messages/messages.js'
import { isSessionToClear, mayHandOver, openHandoff } from './handoffs.js'

/** True when a compaction may be blocked: only if a handoff can follow, and never a manual one. */
function mayBlock(context: SignalContext): boolean {
  const { policy, record, signal } = context
  return (
    policy.compaction === 'block-and-hand-off' &&
    // An approval may come at any time or never, so the handoff might not follow.
    policy.handoff.reviewSeconds !== 'approval' &&
    signal.compaction?.trigger === 'auto' &&
    context.takesOrders &&
    mayHandOver(context) &&
    record.compaction !== null &&
    canLeaveWithoutUser(context, openHandoff(context))
  )
}

/** False when only the user can clear the session, or when the handoff led to this session. */
function canLeaveWithoutUser(context: SignalContext, handoff: HandoffRecord | null): boolean {
  if (handoff === null || handoff.offered) return true
  const { state, failedWays, dueAt } = handoff
  if (!isSessionToClear(context, handoff) || (state === 'review' && dueAt === null)) return false
  return state === 'clearing' || !failedWays.includes('mod')
}

/**
 * Returns the user's `/handoff` request from inside the client, once. Null when there is none.
 * The request is removed only together with its effect.
 */
function typedRequest(context: SignalContext): { words: string } | null {
  const { deps, agent, record, enabled, signal, at } = context
  if (record.attended !== true || (signal.kind !== 'prompt' && signal.kind !== 'turn-end')) return null
  const { sessionId, seatId } = record
  const typed = agent.readRequest?.(deps.liveDir, sessionId) ?? null
  if (typed === null) return null
  deps.store.afterCommit(() => agent.dropRequest?.(deps.liveDir, sessionId, typed.at))
  if (!deps.store.claimOnce(`request.${sessionId}.${typed.at}`, at)) return null
  if (enabled) return typed
  // A stored request would take effect whenever Baton is switched on again.
  const command = `baton on ${sessionId.slice(0, 8)}`
  const text = `[baton] Baton is off for this session · turn it on: ${command} · then repeat /handoff`
  queueMessage(
    context,
    { category: 'handoff', mode: 'sequential', agent_text: null, user_text: text },
    { seatId, sessionId },
  )
  return null
}

/** Moves the session's handoff on by one signal. */
export function advanceHandoffs(context: SignalContext): void {
  const { signal, deps } = context
  if (signal.subagent || context.record.jobId !== null) return
  if (signal.command) context.veto = rareWork(deps).answerCommand(context, signal.command)
  if (signal.kind === 'compact-start' && mayBlock(context)) rareWork(deps).blockAndHandOver(context)
  const typed = typedRequest(context)
  if (typed === null && openHandoff(context) === null) return
  const rare = rareWork(deps)
  if (!context.enabled) rare.stopHandoff(context, 'Baton was switched off')
  rare.followHandoff(context)
  if (typed !== null) rare.applyTypedHandoff(context, typed)
  const open = openHandoff(context)
  if (open !== null && isSessionToClear(context, open) && signal.kind !== 'session-end') rare.checkOrder(context, open)
  if (signal.kind === 'turn-end' || signal.kind === 'turn-failed') rare.handOverAtTurnEnd(context)
  if (signal.kind === 'session-end' && signal.end?.reason !== 'clear') rare.settleHandoffAtSessionEnd(context)
}

/** Returns the answer that blocks the event. Null when it may proceed. */
export function vetoAnswer({ agent, signal, veto }: SignalContext): string | null {
  return veto === '' ? null : (agent.block?.(signal.event, veto) ?? null)
}

/**
 * Returns the answer that makes the agent continue.
 * Null when there is none or the event's answer cannot do that.
 */
export function insistAnswer({ agent, signal, insistence }: SignalContext): string | null {
  return insistence === '' ? null : (agent.insist?.(signal.event, insistence) ?? null)
}
