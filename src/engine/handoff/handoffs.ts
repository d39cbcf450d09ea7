import type { HandoffFields } from '../../contract/api/event-data.js'
import type { HandoffRecord, HandoffState } from '../../contract/records/handoff.js'
import type { Message } from '../../contract/records/message.js'
import type { SessionContext, SignalContext } from '../context.js'
import { cancelStaleMessages } from '../messages/messages.js'
import { sameProcess } from '../messages/wake-idle-session.js'

const OVER = new Set<HandoffState>(['done', 'failed', 'cancelled'])

/**
 * True for interactive sessions only.
 * A headless run is only warned, and in a job the job's runner decides.
 */
export function mayHandOver({
  record,
  policy,
  enabled,
}: Pick<SignalContext, 'record' | 'policy' | 'enabled'>): boolean {
  return enabled && record.jobId === null && record.attended === true && policy.handoff.mode === 'auto'
}

/** Returns the open handoff this session takes part in, else null. */
export function openHandoff({ deps, record }: Pick<SessionContext, 'deps' | 'record'>): HandoffRecord | null {
  const found = record.handoffId ? deps.store.handoff(record.handoffId) : null
  return found && !OVER.has(found.state) ? found : null
}

/**
 * True for a session that another client runs at the same time, perhaps under the same seat name.
 */
function runsElsewhere(
  { deps, record }: Pick<SessionContext, 'deps' | 'record'>,
  sessionId: string,
  mayHaveEnded: boolean,
): boolean {
  const other = sessionId === record.sessionId ? null : deps.store.session(sessionId)
  if (!other?.process || record.process === null || sameProcess(other.process, record.process)) return false
  return (mayHaveEnded || other.state !== 'ended') && deps.agents[other.agent]?.alive(other.process) === true
}

/**
 * Returns the open handoffs of the seat (terminal or job).
 * Omits those of another client with the same seat name: each client is handed over separately.
 */
export function handoffsHere(context: Pick<SessionContext, 'deps' | 'record'>): HandoffRecord[] {
  return context.deps.store.openHandoffs({ seatId: context.record.seatId }).filter((handoff) => {
    // Between the end of a session and the next start, its client still executes the clear.
    const { state, sessionId, newSessionId } = handoff
    return !runsElsewhere(context, newSessionId ?? sessionId, state === 'clearing')
  })
}

/** True while a fork of the session writes the brief, or is about to. */
export function isForking({ state, fork }: HandoffRecord): boolean {
  return state === 'requested' && fork?.outcome === null
}

/** True for the session that the handoff will clear, while no fresh one has begun. */
export function isSessionToClear(
  { record }: Pick<SessionContext, 'record'>,
  { sessionId, newSessionId }: HandoffRecord,
): boolean {
  return sessionId === record.sessionId && newSessionId === null
}

/** Cancels undelivered messages about the handoff, even one that is just waking an idle session. */
export function cancelHandoffMessages(context: SessionContext, why: string): void {
  const isOther = (sessionId: string | null): boolean => sessionId !== null && runsElsewhere(context, sessionId, false)
  cancelStaleMessages(
    context,
    why,
    (message: Message) => message.category === 'handoff' && !isOther(message.session_id),
  )
}

/**
 * Withdraws an order to clear that was not begun. False when it was begun.
 * Typing that has not begun needs no withdrawal, because it ends with the handoff's state.
 * The typing process checks that state in one transaction (`beginTyping`).
 */
export function withdrawClearOrder(
  { deps, record }: Pick<SessionContext, 'deps' | 'record'>,
  handoff: HandoffRecord,
): boolean {
  if (handoff.way === 'tmux') return handoff.state !== 'clearing' || !handoff.typing
  const agent = deps.agents[record.agent]
  if (handoff.orderId === null || !agent?.withdraw) return true
  try {
    return agent.withdraw(deps.liveDir, handoff.sessionId, handoff.orderId)
  } catch (error) {
    deps.log('warn', 'an order could not be taken back', { handoff: handoff.handoffId, reason: String(error) })
    return false
  }
}

/** Returns the fields that the events of a handoff report. */
export function handoffEventFields(handoff: HandoffRecord): HandoffFields {
  const { usedTokens, windowTokens } = handoff
  return {
    agentName: null,
    jobId: null,
    oldSessionId: handoff.sessionId,
    newSessionId: handoff.newSessionId,
    usagePercent: usedTokens === null || windowTokens === null ? null : usedTokens / windowTokens,
    inputTokens: usedTokens,
    contextWindow: windowTokens,
    handoffNumber: handoff.number,
    ...(handoff.fork ? { fork: handoff.fork.outcome ?? 'no longer needed' } : {}),
  }
}
