import type { Agent } from '../agents/agent.js'
import type { Message } from '../contract/message.js'
import type { SessionRecord } from '../contract/record.js'
import { type Desk, emit } from './draft.js'
import { isOverlooked, NOTICE_MS } from './overlooked.js'
import { calls, sayOf, signOf } from './waiting-messages.js'

/**
 * An idle session is told by an order: the part of Baton inside the client gives the message as a prompt, when nothing hinders it. Such
 * a message is sent, with the order's name, until the client's own event shows the prompt; from then on it is confirmed like any other.
 * An order that was refused, came too late or was taken back leaves it queued; whoever can tell it sooner takes the order back.
 * Where nothing of Baton's runs inside the client, a waiter that sleeps beside it is told in the same way, if there is one.
 */

/** How long an order may lie: a dialog can stand open for hours, and it can be taken back at any time. */
const ORDER_MS = 12 * 60 * 60_000
/** Carried out, and no prompt was shown since. */
const SHOWN_MS = 60_000
/** A session that says nothing for so long has a long tool under way, or the person stopped its turn, which no event tells. */
export const QUIET_MS = 30_000

/** The waiter of a turn that just ended begins beside the hook that tells of it, and takes at once what it is left. */
const WAITER_MS = 5_000

/** Whom an idle session is told by; null: it is not idle, or there is nobody. */
export function wakerOf({ parts, agent, record, at }: Desk): 'order' | 'waiter' | null {
  const { process, state } = record
  if (record.attended !== true || process === null || state === 'ended') return null
  if (!isQuiet({ record, at }) || !agent.alive(process)) return null
  if (agent.order && agent.takesOrders?.(parts.liveDir, record.sessionId, process)) return 'order'
  // A waiter does not see whether a turn runs.
  const idle = state === 'idle' || state === 'unknown'
  const waiter = idle ? (agent.waiter?.of(parts.liveDir, process.pid) ?? null) : null
  return waiter === 'asleep' || (waiter === 'known' && Date.parse(at) - Date.parse(record.seenAt) < WAITER_MS) ? 'waiter' : null
}

/** It is idle, as far as can be told. */
export function isQuiet({ record, at }: Pick<Desk, 'record' | 'at'>): boolean {
  const { state, seenAt } = record
  return state === 'idle' || state === 'unknown' || Date.parse(at) - Date.parse(seenAt) > QUIET_MS
}

export const mayWake = (desk: Desk): boolean => wakerOf(desk) !== null

/** Sent as a prompt whose fate is not known yet. */
export function markPrompted(desk: Desk, messages: readonly Message[], via: 'order' | 'keys' | 'waiter', orderId: string): void {
  const { parts, record, at } = desk
  for (const message of messages) {
    const sent = { status: 'sent', sent_at: at, via, sent_to: record.sessionId, order_id: orderId } as const
    parts.store.putMessage({ ...message, ...sent })
  }
}

/** One order for all of them. Stored first: an order that is not known would be carried out behind our back. */
export function wake(desk: Desk, messages: readonly Message[]): void {
  const { parts, agent, record, at } = desk
  const [prompt, by] = [sayOf(messages).agent, wakerOf(desk)]
  if (prompt === null || by === null) return
  const orderId = `order_${parts.newId()}`
  const session = record.sessionId
  markPrompted(desk, messages, by, orderId)
  const until = Date.parse(at) + ORDER_MS
  parts.store.afterCommit(() => {
    if (by === 'waiter') agent.waiter!.say(parts.liveDir, { clientPid: record.process!.pid, session, orderId, text: prompt })
    else agent.order!(parts.liveDir, { format: 1, orderId, session, do: 'say', prompt, until })
  })
}

/** Whether an order is on its way to this seat. */
export function ordered(messages: readonly Message[]): boolean {
  return messages.some((message) => message.status === 'sent' && message.order_id)
}

/** Prompts of ours, given to an idle client: by an order, by a waiter beside it, or by keys in its terminal. */
const PROMPTED = ['order', 'waiter', 'keys']

/** Travels as a prompt of its own. */
export function isPrompt(message: Message): boolean {
  return PROMPTED.includes(message.via ?? '')
}

/**
 * What became of the orders to this seat. `prompt`: what the client was just given, which may be one of them. `takeBack`: those not begun
 * are taken back.
 */
export function settleOrders(desk: Desk, prompt: string | null, takeBack: boolean): void {
  const { parts, record, at } = desk
  for (const message of parts.store.openMessages(record.seatId)) {
    // Also one that was given up: what was typed and left standing may be sent by the person much later.
    if (prompt !== null && calls(message) && prompt.includes(signOf(message))) {
      const via = message.via ?? 'keys'
      parts.store.putMessage({ ...message, status: 'sent', via, sent_at: at, sent_to: record.sessionId, order_id: null })
      continue
    }
    if (message.status !== 'sent' || !message.order_id) continue
    const fate = fateOf(desk, message, takeBack)
    if (fate === 'not-done') requeue(desk, message, false)
    else if (fate === 'unknown') settleLost(desk, message)
  }
}

type Fate = 'on-its-way' | 'not-done' | 'unknown'

function fateOf({ parts, agent, record, at }: Desk, message: Message, takeBack: boolean): Fate {
  const session = message.sent_to ?? record.sessionId
  const orderId = message.order_id!
  const now = Date.parse(at)
  // Keys cannot be taken back: the client shows them in a moment, or never.
  if (message.via === 'keys') return now - Date.parse(message.sent_at!) < SHOWN_MS ? 'on-its-way' : 'unknown'
  const byWaiter = message.via === 'waiter'
  const look = () => (byWaiter ? saidBy : answerTo)(agent, parts.liveDir, session, orderId)
  let answer = look()
  if (answer === null) {
    const longest = byWaiter ? WAITER_MS : ORDER_MS
    const since = now - Date.parse(message.sent_at!)
    const isMissed = !byWaiter && since > NOTICE_MS && isOverlooked(agent, parts.liveDir, session, orderId)
    if (isMissed) agent.giveUpOn?.(parts.liveDir, session)
    const due = takeBack || session !== record.sessionId || isMissed || since > longest
    if (!due) return 'on-its-way'
    if ((byWaiter ? agent.waiter?.unsay : agent.withdraw)?.(parts.liveDir, session, orderId)) return 'not-done'
    answer = look()
    // It never lay there, or another order has taken its place.
    if (answer === null) return 'not-done'
  }
  if (answer.refused !== null) return answer.refused.startsWith('failed') ? 'unknown' : 'not-done'
  return session === record.sessionId && now - answer.at < SHOWN_MS ? 'on-its-way' : 'unknown'
}

/** When an order was begun; null: it was not. `refused`: why it will not be carried out. */
type Begun = { at: number; refused: string | null } | null

function answerTo(agent: Agent, liveDir: string, session: string, orderId: string): Begun {
  const answer = agent.orderAnswer?.(liveDir, session, orderId) ?? null
  return answer && { at: answer.at, refused: answer.state === 'refused' ? (answer.reason ?? '') : null }
}

function saidBy(agent: Agent, liveDir: string, session: string, orderId: string): Begun {
  const at = agent.waiter?.said(liveDir, session, orderId) ?? null
  return at === null ? null : { at, refused: null }
}

/** It was given to a client that did not show what it made of it: again, unless the conversation holds it. */
export function settleLost(desk: Desk, message: Message): void {
  const { parts, agent, record } = desk
  const to = message.sent_to ?? record.sessionId
  const given = to === record.sessionId ? record : parts.store.session(to)
  if (given?.transcriptPath && message.agent_text && agent.heard(given.transcriptPath, signOf(message))) deliver(desk, message)
  else requeue(desk, message, true)
}

export function deliver(desk: Desk, message: Message): void {
  desk.parts.store.putMessage({ ...message, status: 'delivered', delivered_at: desk.at, order_id: null })
  emit(desk, 'message_delivered', { message_id: message.message_id, via: message.via, repeated: message.repeated })
  if (message.brief_id) useUp(desk, message.brief_id, message.session_id)
  if (!message.recovery) return
  const { compaction, steps } = message.recovery
  for (const { step, facts } of steps)
    emit(desk, 'recovery_delivered', { message_id: message.message_id, compaction_started_at: compaction, step, facts })
}

/** A brief given to a running session has arrived there. */
function useUp({ parts, record, at }: Desk, briefId: string, sessionId: string | null): void {
  const brief = parts.store.brief(briefId)
  const session = record.sessionId === sessionId ? record : sessionId && parts.store.session(sessionId)
  if (!brief || !session) return
  parts.store.putBrief({ ...brief, status: 'used', usedAt: at, usedBySessionId: sessionId, givenTo: null })
  session.lastHandoffPath = brief.path
  parts.store.putSession(session)
}

export function requeue({ parts }: Desk, message: Message, repeated: boolean): void {
  const waits = { status: 'queued', sent_at: null, via: null, sent_to: null, order_id: null } as const
  parts.store.putMessage({ ...message, ...waits, repeated: repeated || message.repeated })
}

/** A session nobody sits in any more, or that this one took the place of. */
export function isLeft({ parts, agent, record }: Desk, sessionId: string): boolean {
  const left = parts.store.session(sessionId)
  if (left === null || left.state === 'ended' || left.process === null) return true
  return sameProcess(left.process, record.process) || !agent.alive(left.process)
}

export function sameProcess(one: SessionRecord['process'], other: SessionRecord['process']): boolean {
  return one?.pid === other?.pid && one?.startedAt === other?.startedAt
}
