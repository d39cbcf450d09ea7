import type { BriefRecord } from '../contract/brief.js'
import type { HandoffRecord, HandoffWay } from '../contract/handoff.js'
import { continuePrompt } from '../handoff/resume-text.js'
import type { LeaveDesk } from './desk.js'
import { type Desk, type Draft, emit } from './draft.js'
import { addFoundLater } from './found-later.js'
import { failHandoff, fieldsOf, moveHandoff } from './handoffs.js'
import { hasDriver } from './look-at-handoffs.js'
import { queue } from './messages.js'
import { ORDER_MS, SETTLE_MS } from './overlooked.js'
import { isQuiet, QUIET_MS } from './wake.js'

type NamedDesk = Desk & Pick<Draft, 'seatName'>

/** How soon somebody looks whether the process that types is still there. */
export const LOOK_MS = 2 * 60_000

/**
 * Leaves the session by the best way there is: the part of Baton inside the client clears it; else a process types into its terminal (see
 * `drive-handoff.ts`); else the person is told that it can be left.
 */
export function leaveSession(draft: LeaveDesk, asked: HandoffRecord): void {
  // One that waits for the person's own clear is completed then.
  const handoff = asked.state === 'waiting' ? asked : addFoundLater(draft, asked)
  const brief = handoff.briefId === null ? null : draft.parts.store.brief(handoff.briefId)
  if (brief === null) {
    failHandoff(draft, handoff, 'its brief is gone')
    return
  }
  const known = { ...handoff, client: clientOf(draft) }
  if (draft.takesOrders && draft.agent.order && !handoff.failedWays.includes('mod')) order(draft, known, brief)
  else typeOrOffer(draft, known, brief)
}

/** Whether the client of a session still runs, as far as can be told. */
export function isThere({ agent, record }: Pick<Desk, 'agent' | 'record'>): boolean {
  return record.state !== 'ended' && (record.process === null || agent.alive(record.process))
}

/** The brief may be used: the session is left at once if it is idle, else at the end of its turn; one that has ended leaves it for the next. */
export function leaveWhenIdle(desk: LeaveDesk, handoff: HandoffRecord): HandoffRecord {
  if (!isThere(desk)) return moveHandoff(desk, handoff, 'waiting', { way: 'start', orderId: null })
  const ready = moveHandoff(desk, handoff, 'checked', { way: null, orderId: null })
  if (desk.record.jobId !== null) return ready
  if (!isQuiet(desk)) {
    // No event tells that a person stopped a turn, or that the client gave it up.
    const waits: HandoffRecord = { ...ready, dueAt: later(desk, QUIET_MS) }
    desk.parts.store.putHandoff(waits)
    desk.parts.store.afterCommit(() => desk.parts.leaveWork('handoff'))
    return waits
  }
  leaveSession(desk, ready)
  return desk.parts.store.handoff(ready.handoffId)!
}

function order(draft: LeaveDesk, handoff: HandoffRecord, brief: BriefRecord): void {
  const orderId = `order_${draft.parts.newId()}`
  const moved = moveHandoff(draft, handoff, 'clearing', { way: 'mod', orderId, dueAt: later(draft, ORDER_MS + SETTLE_MS) })
  emit(draft, 'handoff_started', { handoff_id: moved.handoffId, brief_id: brief.briefId, way: 'mod', ...fieldsOf(moved) })
  giveOrder(draft, moved, brief)
}

/** `same`: it never lay there, or its time was too short. Under the same name it is carried out once, however often it is given. */
export function orderAgain(desk: LeaveDesk, handoff: HandoffRecord, which: 'same' | 'another'): void {
  const brief = handoff.briefId === null ? null : desk.parts.store.brief(handoff.briefId)
  if (brief === null) {
    failHandoff(desk, handoff, 'its brief is gone')
    return
  }
  const hasTime = which === 'same' && handoff.dueAt !== null && handoff.dueAt > desk.at
  const again: HandoffRecord = {
    ...handoff,
    orderId: which === 'same' ? handoff.orderId : `order_${desk.parts.newId()}`,
    dueAt: hasTime ? handoff.dueAt : later(desk, ORDER_MS + SETTLE_MS),
  }
  desk.parts.store.putHandoff(again)
  giveOrder(desk, again, brief)
}

/** Stored first: an order that was given and is not known would be carried out behind our back. */
function giveOrder({ parts, agent, policy, seatName }: LeaveDesk, handoff: HandoffRecord, brief: BriefRecord): void {
  const { sessionId: session, unattended } = handoff
  const orderId = handoff.orderId!
  const prompt = continuePrompt({ path: brief.path, sequence: brief.sequence, seatName })
  const until = Date.parse(handoff.dueAt!) - SETTLE_MS
  const limit = unattended ? { perHour: policy.guards.maxUnattendedPerHour } : {}
  parts.store.afterCommit(() => {
    agent.order!(parts.liveDir, { format: 1, orderId, session, do: 'hand-off', prompt, until, ...limit })
    // Somebody sees whether it is noticed: of a client that is idle nothing else is heard.
    if (agent.tellsHindrance?.(parts.liveDir, session)) parts.leaveWork('handoff')
  })
}

/** A person's client in a terminal that can be typed into; null: it is none. */
function clientOf({ record }: Desk): HandoffRecord['client'] {
  if (!record.terminal || record.process === null || record.attended !== true) return null
  return { pid: record.process.pid, startedAt: record.process.startedAt, configDir: record.terminal.configDir }
}

function typeOrOffer(desk: NamedDesk, handoff: HandoffRecord, brief: BriefRecord): void {
  if (!handoff.client || handoff.failedWays.includes('tmux')) {
    offer(desk, handoff, brief)
    return
  }
  const { parts } = desk
  const driver = !handoff.typing && hasDriver(handoff) ? handoff.driver! : null
  const moved = moveHandoff(desk, handoff, 'clearing', {
    ...{ way: 'tmux', orderId: `order_${parts.newId()}`, dueAt: later(desk, LOOK_MS), driver, typing: null },
  })
  if (handoff.state !== 'clearing')
    emit(desk, 'handoff_started', { handoff_id: moved.handoffId, brief_id: brief.briefId, way: 'tmux', ...fieldsOf(moved) })
  if (driver === null) parts.store.afterCommit(() => parts.leaveWork('handoff'))
}

/** While the agent writes its brief, the process that will type is started: a start is slow, and at the end of the turn a person waits for it. */
export function readyToType(draft: Draft): Pick<HandoffRecord, 'client'> {
  const client = draft.takesOrders || draft.signal.kind !== 'tool-batch' ? null : clientOf(draft)
  if (client !== null) draft.parts.store.afterCommit(() => draft.parts.leaveWork('handoff'))
  return { client }
}

/** The brief is ready, and the session is left when the person does it. */
function offer(desk: NamedDesk, handoff: HandoffRecord, brief: BriefRecord): void {
  if (handoff.state === 'waiting' && handoff.way === 'start') return
  moveHandoff(desk, handoff, 'waiting', { way: 'start', orderId: null })
  const text = `[baton] The brief for a fresh session is ready (${brief.briefId}). Type /clear and the work goes on from it; baton handoffs cancel ${brief.briefId} drops it.`
  queue(
    desk,
    { category: 'handoff', mode: 'sequential', agent_text: null, user_text: text },
    { seatId: desk.record.seatId, sessionId: desk.record.sessionId },
  )
}

/** The fresh session begins by itself where its terminal can be typed into. False: it cannot, or a mod does it. */
export function typeOn(draft: Draft, handoff: HandoffRecord): boolean {
  const { parts } = draft
  const client = clientOf(draft)
  const hadMod = parts.store.session(handoff.sessionId)?.track.stamps.mod !== undefined
  const lostMod = draft.agent.takesNoMore?.(parts.liveDir, handoff.sessionId) === true
  const hasMod = draft.takesOrders || (hadMod && !lostMod)
  if (!client || hasMod) return false
  parts.store.putHandoff({ ...handoff, client, typing: null })
  parts.store.afterCommit(() => parts.leaveWork('handoff'))
  return true
}

/** A way did not work: the next one is taken. */
export function offerInstead(desk: NamedDesk, handoff: HandoffRecord, failed: HandoffWay): void {
  const brief = handoff.briefId === null ? null : desk.parts.store.brief(handoff.briefId)
  if (brief === null) failHandoff(desk, handoff, 'its brief is gone')
  else typeOrOffer(desk, { ...handoff, failedWays: [...handoff.failedWays, failed] }, brief)
}

/** The fresh session ended before its first prompt: nobody has the brief, and the next one is given it. */
export function waitForNextStart(desk: Desk, handoff: HandoffRecord): void {
  const { store } = desk.parts
  const brief = handoff.briefId === null ? null : store.brief(handoff.briefId)
  if (brief) store.putBrief({ ...brief, status: 'checked', usedAt: null, usedBySessionId: null })
  moveHandoff(desk, handoff, 'waiting', { way: 'start', orderId: null, newSessionId: null })
}

const later = ({ at }: Desk, ms: number): string => new Date(Date.parse(at) + ms).toISOString()
