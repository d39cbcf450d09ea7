import { continuePrompt } from '../../briefs/resume-text.js'
import type { BriefRecord } from '../../contract/records/brief.js'
import type { HandoffRecord, HandoffWay } from '../../contract/records/handoff.js'
import { addFoundLater } from '../compaction/late-findings.js'
import type { SessionContext, SignalContext } from '../context.js'
import { queue } from '../messages/messages.js'
import { isQuiet, QUIET_MS } from '../messages/wake-idle-session.js'
import type { PolicyContext } from '../session-context.js'
import { hasDriver } from './handoff-drivers.js'
import { applyEvent, failHandoff, updateHandoff } from './handoff-transitions.js'
import { ORDER_MS, SETTLE_MS } from './missed-orders.js'

type NamedContext = SessionContext & Pick<SignalContext, 'seatName'>

/** How soon somebody looks whether the process that types is still there. */
export const LOOK_MS = 2 * 60_000

/** The fresh session is begun by the user: with a /clear, or with the next start. */
export const BY_NEXT_START = { way: 'start', orderId: null } as const

/**
 * Leaves the session by the best way there is: the part of Baton inside the client clears it; else a process types into its terminal (see
 * `drive-handoff.ts`); else the person is told that it can be left.
 */
export function leaveSession(context: PolicyContext, asked: HandoffRecord): void {
  // One that waits for the person's own clear is completed then.
  const handoff = asked.state === 'waiting' ? asked : addFoundLater(context, asked)
  const brief = handoff.briefId === null ? null : context.deps.store.brief(handoff.briefId)
  if (brief === null) {
    failHandoff(context, handoff, 'its brief is gone')
    return
  }
  const known = { ...handoff, client: clientOf(context) }
  if (context.takesOrders && context.agent.order && !handoff.failedWays.includes('mod')) order(context, known, brief)
  else typeOrOffer(context, known, brief)
}

/** Whether the client of a session still runs, as far as can be told. */
export function isThere({ agent, record }: Pick<SessionContext, 'agent' | 'record'>): boolean {
  return record.state !== 'ended' && (record.process === null || agent.alive(record.process))
}

/** The brief may be used: the session is left at once if it is idle, else at the end of its turn; one that has ended leaves it for the next. */
export function leaveWhenIdle(context: PolicyContext, handoff: HandoffRecord): HandoffRecord {
  if (!isThere(context)) return applyEvent(context, handoff, 'session-ended', BY_NEXT_START) ?? handoff
  const ready = applyEvent(context, handoff, 'brief-released', { way: null, orderId: null })
  if (ready === null || context.record.jobId !== null) return ready ?? handoff
  if (!isQuiet(context)) {
    // No event tells that a person stopped a turn, or that the client gave it up.
    const waits = updateHandoff(context, ready, { dueAt: later(context, QUIET_MS) })
    context.deps.store.afterCommit(() => context.deps.leaveWork('handoff'))
    return waits
  }
  leaveSession(context, ready)
  return context.deps.store.handoff(ready.handoffId)!
}

function order(context: PolicyContext, handoff: HandoffRecord, brief: BriefRecord): void {
  const orderId = `order_${context.deps.newId()}`
  const dueAt = later(context, ORDER_MS + SETTLE_MS)
  const ordered = applyEvent(context, handoff, 'clear-ordered', { way: 'mod', orderId, dueAt })
  if (ordered !== null) giveOrder(context, ordered, brief)
}

/** `same`: it never lay there, or its time was too short. Under the same name it is carried out once, however often it is given. */
export function orderAgain(context: PolicyContext, handoff: HandoffRecord, which: 'same' | 'another'): void {
  const brief = handoff.briefId === null ? null : context.deps.store.brief(handoff.briefId)
  if (brief === null) {
    failHandoff(context, handoff, 'its brief is gone')
    return
  }
  const hasTime = which === 'same' && handoff.dueAt !== null && handoff.dueAt > context.at
  const again = updateHandoff(context, handoff, {
    orderId: which === 'same' ? handoff.orderId : `order_${context.deps.newId()}`,
    dueAt: hasTime ? handoff.dueAt : later(context, ORDER_MS + SETTLE_MS),
  })
  giveOrder(context, again, brief)
}

/** Stored first: an order that was given and is not known would be carried out behind our back. */
function giveOrder({ deps, agent, policy, seatName }: PolicyContext, handoff: HandoffRecord, brief: BriefRecord): void {
  const { sessionId: session, unattended } = handoff
  const orderId = handoff.orderId!
  const prompt = continuePrompt({ path: brief.path, sequence: brief.sequence, seatName, question: handoff.question })
  const until = Date.parse(handoff.dueAt!) - SETTLE_MS
  const limit = unattended ? { perHour: policy.guards.maxUnattendedPerHour } : {}
  deps.store.afterCommit(() => {
    agent.order!(deps.liveDir, { format: 1, orderId, session, do: 'hand-off', prompt, until, ...limit })
    // Somebody sees whether it is noticed: of a client that is idle nothing else is heard.
    if (agent.tellsHindrance?.(deps.liveDir, session)) deps.leaveWork('handoff')
  })
}

/** A person's client in a terminal that can be typed into; null: it is none. */
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
    dueAt: later(context, LOOK_MS),
    driver,
    typing: null,
  })
  if (ordered !== null && driver === null) deps.store.afterCommit(() => deps.leaveWork('handoff'))
}

/** While the agent writes its brief, the process that will type is started: a start is slow, and at the end of the turn a person waits for it. */
export function readyToType(context: SignalContext): Pick<HandoffRecord, 'client'> {
  const { signal, record, takesOrders } = context
  // The status line often reports the figure before the tool batch of the same answer does.
  const isAtWork = signal.kind === 'tool-batch' || (signal.kind === 'status-line' && record.state === 'working')
  const client = takesOrders || !isAtWork ? null : clientOf(context)
  if (client !== null) context.deps.store.afterCommit(() => context.deps.leaveWork('handoff'))
  return { client }
}

/** The brief is ready, and the session is left when the person does it. */
function offer(context: NamedContext, handoff: HandoffRecord, brief: BriefRecord): void {
  if (handoff.state === 'waiting' && handoff.way === 'start') return
  if (applyEvent(context, handoff, 'clear-left-to-user', BY_NEXT_START) === null) return
  const text = `[baton] The brief for a fresh session is ready (${brief.briefId}). Type /clear and the work goes on from it; baton handoffs cancel ${brief.briefId} drops it.`
  queue(
    context,
    { category: 'handoff', mode: 'sequential', agent_text: null, user_text: text },
    { seatId: context.record.seatId, sessionId: context.record.sessionId },
  )
}

/** The fresh session begins by itself where its terminal can be typed into. False: it cannot, or a mod does it. */
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

/** A way did not work: the next one is taken. */
export function offerInstead(context: NamedContext, handoff: HandoffRecord, failed: HandoffWay): void {
  const brief = handoff.briefId === null ? null : context.deps.store.brief(handoff.briefId)
  if (brief === null) failHandoff(context, handoff, 'its brief is gone')
  else typeOrOffer(context, { ...handoff, failedWays: [...handoff.failedWays, failed] }, brief)
}

/** The fresh session ended before its first prompt: nobody has the brief, and the next one is given it. */
export function waitForNextStart(context: SessionContext, handoff: HandoffRecord): void {
  applyEvent(context, handoff, 'fresh-session-lost', { ...BY_NEXT_START, newSessionId: null })
}

const later = ({ at }: SessionContext, ms: number): string => new Date(Date.parse(at) + ms).toISOString()
