import { continuePrompt } from '../../briefs/resume-text.js'
import type { BriefRecord } from '../../contract/records/brief.js'
import type { HandoffRecord, HandoffWay } from '../../contract/records/handoff.js'
import { addLateFindings } from '../compaction/late-findings.js'
import type { SessionContext, SignalContext } from '../context.js'
import { queueMessage } from '../messages/messages.js'
import { IDLE_SILENCE_MS, isIdle } from '../messages/wake-idle-session.js'
import type { PolicyContext } from '../session-context.js'
import { hasDriver } from './handoff-drivers.js'
import { applyEvent, failHandoff, updateHandoff } from './handoff-transitions.js'
import { ORDER_LIFETIME_MS, ORDER_RESULT_MS } from './missed-orders.js'

type NamedContext = SessionContext & Pick<SignalContext, 'seatName'>

/** Milliseconds until a check whether the typing process still runs. */
export const DRIVER_CHECK_MS = 2 * 60_000

/** Fields of a handoff whose fresh session the user begins, with a /clear or the next start. */
export const STARTED_BY_USER = { way: 'start', orderId: null } as const

/**
 * Leaves the session for a fresh one by the best available way.
 * The ways: the plugin module clears the session, or a process types into its terminal.
 * Without these ways, the user is told to clear the session. See `drive-handoff.ts`.
 */
export function leaveSession(context: PolicyContext, asked: HandoffRecord): void {
  // A brief that waits for the user's own /clear is completed at that /clear.
  const handoff = asked.state === 'waiting' ? asked : addLateFindings(context, asked)
  const brief = handoff.briefId === null ? null : context.deps.store.brief(handoff.briefId)
  if (brief === null) {
    failHandoff(context, handoff, 'its brief is missing')
    return
  }
  const known = { ...handoff, client: clientOf(context) }
  if (context.takesOrders && context.agent.order && !handoff.failedWays.includes('mod')) order(context, known, brief)
  else typeOrOffer(context, known, brief)
}

/** True while the session's client still runs, as far as known. */
export function isClientRunning({ agent, record }: Pick<SessionContext, 'agent' | 'record'>): boolean {
  return record.state !== 'ended' && (record.process === null || agent.alive(record.process))
}

/**
 * Releases the brief for use: an idle session is cleared at once, a working one at turn end.
 * If the session has ended, the brief waits for the next start.
 */
export function leaveWhenIdle(context: PolicyContext, handoff: HandoffRecord): HandoffRecord {
  if (!isClientRunning(context)) return applyEvent(context, handoff, 'session-ended', STARTED_BY_USER) ?? handoff
  const ready = applyEvent(context, handoff, 'brief-released', { way: null, orderId: null })
  if (ready === null || context.record.jobId !== null) return ready ?? handoff
  if (!isIdle(context)) {
    // No event reports that the user interrupted a turn or that the client aborted it.
    const waits = updateHandoff(context, ready, { dueAt: later(context, IDLE_SILENCE_MS) })
    context.deps.store.afterCommit(() => context.deps.leaveWork('handoff'))
    return waits
  }
  leaveSession(context, ready)
  return context.deps.store.handoff(ready.handoffId)!
}

function order(context: PolicyContext, handoff: HandoffRecord, brief: BriefRecord): void {
  const orderId = `order_${context.deps.newId()}`
  const dueAt = later(context, ORDER_LIFETIME_MS + ORDER_RESULT_MS)
  const ordered = applyEvent(context, handoff, 'clear-ordered', { way: 'mod', orderId, dueAt })
  if (ordered !== null) giveOrder(context, ordered, brief)
}

/**
 * Gives the plugin module an order again. `same`: it was never delivered or its time was too short.
 * An order with the same id is executed only once, however often it is given.
 */
export function repeatOrder(context: PolicyContext, handoff: HandoffRecord, which: 'same' | 'another'): void {
  const brief = handoff.briefId === null ? null : context.deps.store.brief(handoff.briefId)
  if (brief === null) {
    failHandoff(context, handoff, 'its brief is missing')
    return
  }
  const hasTime = which === 'same' && handoff.dueAt !== null && handoff.dueAt > context.at
  const again = updateHandoff(context, handoff, {
    orderId: which === 'same' ? handoff.orderId : `order_${context.deps.newId()}`,
    dueAt: hasTime ? handoff.dueAt : later(context, ORDER_LIFETIME_MS + ORDER_RESULT_MS),
  })
  giveOrder(context, again, brief)
}

/**
 * Gives the plugin module a stored order.
 * The order is stored before it is given: one that Baton forgot would be executed unnoticed.
 */
function giveOrder({ deps, agent, policy, seatName }: PolicyContext, handoff: HandoffRecord, brief: BriefRecord): void {
  const { sessionId: session, unattended } = handoff
  const orderId = handoff.orderId!
  const prompt = continuePrompt({ path: brief.path, sequence: brief.sequence, seatName, question: handoff.question })
  const until = Date.parse(handoff.dueAt!) - ORDER_RESULT_MS
  const limit = unattended ? { perHour: policy.guards.maxUnattendedPerHour } : {}
  deps.store.afterCommit(() => {
    agent.order!(deps.liveDir, { format: 1, orderId, session, do: 'hand-off', prompt, until, ...limit })
    // A background process checks whether the order is noticed. An idle client sends no signals.
    if (agent.tellsHindrance?.(deps.liveDir, session)) deps.leaveWork('handoff')
  })
}

/** Returns the user's client whose terminal Baton can type into. Null when there is none. */
function clientOf({ record }: SessionContext): HandoffRecord['client'] {
  if (!record.terminal || record.process === null || record.attended !== true) return null
  return { pid: record.process.pid, startedAt: record.process.startedAt, configDir: record.terminal.configDir }
}

function typeOrOffer(context: NamedContext, handoff: HandoffRecord, brief: BriefRecord): void {
  if (!handoff.client || handoff.failedWays.includes('tmux')) {
    offer(context, handoff, brief)
    return
  }
  const { deps } = context
  const driver = !handoff.typing && hasDriver(handoff) ? handoff.driver! : null
  const ordered = applyEvent(context, handoff, 'clear-ordered', {
    way: 'tmux',
    orderId: `order_${deps.newId()}`,
    dueAt: later(context, DRIVER_CHECK_MS),
    driver,
    typing: null,
  })
  if (ordered !== null && driver === null) deps.store.afterCommit(() => deps.leaveWork('handoff'))
}

/**
 * Starts the typing process while the agent writes its brief.
 * Starting is slow, and the user would wait for it at the end of the turn.
 */
export function startDriverEarly(context: SignalContext): Pick<HandoffRecord, 'client'> {
  const { signal, record, takesOrders } = context
  // The status line often reports a token count before the tool batch of the same answer does.
  const isAtWork = signal.kind === 'tool-batch' || (signal.kind === 'status-line' && record.state === 'working')
  const client = takesOrders || !isAtWork ? null : clientOf(context)
  if (client !== null) context.deps.store.afterCommit(() => context.deps.leaveWork('handoff'))
  return { client }
}

/** Leaves the clear to the user and tells them that the brief is ready. */
function offer(context: NamedContext, handoff: HandoffRecord, brief: BriefRecord): void {
  if (handoff.state === 'waiting' && handoff.way === 'start') return
  if (applyEvent(context, handoff, 'clear-left-to-user', STARTED_BY_USER) === null) return
  const id = brief.briefId
  const commands = `continue in a fresh session: /clear · drop it: baton handoffs cancel ${id}`
  const text = `[baton] The brief ${id} is ready · ${commands}`
  queueMessage(
    context,
    { category: 'handoff', mode: 'sequential', agent_text: null, user_text: text },
    { seatId: context.record.seatId, sessionId: context.record.sessionId },
  )
}

/**
 * Has the background process type the first prompt.
 * False when the terminal cannot be typed into or a plugin module enters the prompt.
 */
export function typeFirstPrompt(context: SignalContext, handoff: HandoffRecord): boolean {
  const { deps } = context
  const client = clientOf(context)
  const hadMod = deps.store.session(handoff.sessionId)?.track.stamps.mod !== undefined
  const lostMod = context.agent.hasLostMod?.(deps.liveDir, handoff.sessionId) === true
  const hasMod = context.takesOrders || (hadMod && !lostMod)
  if (!client || hasMod) return false
  updateHandoff(context, handoff, { client, typing: null })
  deps.store.afterCommit(() => deps.leaveWork('handoff'))
  return true
}

/** Tries the next way to a fresh session after one failed. */
export function tryNextWay(context: NamedContext, handoff: HandoffRecord, failed: HandoffWay): void {
  const brief = handoff.briefId === null ? null : context.deps.store.brief(handoff.briefId)
  if (brief === null) failHandoff(context, handoff, 'its brief is missing')
  else typeOrOffer(context, { ...handoff, failedWays: [...handoff.failedWays, failed] }, brief)
}

/** Makes the brief wait for the next start when the fresh session ended before its first prompt. */
export function waitForNextStart(context: SessionContext, handoff: HandoffRecord): void {
  applyEvent(context, handoff, 'fresh-session-lost', { ...STARTED_BY_USER, newSessionId: null })
}

const later = ({ at }: SessionContext, ms: number): string => new Date(Date.parse(at) + ms).toISOString()
