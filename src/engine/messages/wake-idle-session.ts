import type { Agent } from '../../agents/agent.js'
import type { Message } from '../../contract/records/message.js'
import type { SessionRecord } from '../../contract/records/session.js'
import { scaleTimeout } from '../../lib/patience.js'
import { emit, type SessionContext } from '../context.js'
import { isOverlooked, NOTICE_MS } from '../handoff/missed-orders.js'
import { sayOf, signOf } from './message-text.js'
import { isWorthTurn } from './pick-messages.js'

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
export function wakerOf({ deps, agent, record, at }: SessionContext): 'order' | 'waiter' | null {
  const { process, state } = record
  if (record.attended !== true || process === null || state === 'ended') return null
  if (!isQuiet({ record, at }) || !agent.alive(process)) return null
  if (agent.order && agent.takesOrders?.(deps.liveDir, record.sessionId, process)) return 'order'
  // A waiter does not see whether a turn runs.
  const idle = state === 'idle' || state === 'unknown'
  const waiter = idle ? (agent.waiter?.of(deps.liveDir, process.pid) ?? null) : null
  return waiter === 'asleep' || (waiter === 'known' && Date.parse(at) - Date.parse(record.seenAt) < WAITER_MS)
    ? 'waiter'
    : null
}

/** True when the session is idle as far as Baton can tell. */
export function isQuiet({ record, at }: Pick<SessionContext, 'record' | 'at'>): boolean {
  const { state, seenAt } = record
  return state === 'idle' || state === 'unknown' || Date.parse(at) - Date.parse(seenAt) > QUIET_MS
}

export const mayWake = (context: SessionContext): boolean => wakerOf(context) !== null

/** Sent as a prompt whose fate is not known yet. */
export function markPrompted(
  context: SessionContext,
  messages: readonly Message[],
  via: 'order' | 'keys' | 'waiter',
  orderId: string,
): void {
  const { deps, record, at } = context
  for (const message of messages) {
    const sent = { status: 'sent', sent_at: at, via, sent_to: record.sessionId, order_id: orderId } as const
    deps.store.putMessage({ ...message, ...sent })
  }
}

/** Gives all messages in one order. The store has them first: an unknown order would be carried out unnoticed. */
export function wake(context: SessionContext, messages: readonly Message[]): void {
  const { deps, agent, record, at } = context
  const [prompt, by] = [sayOf(messages).agent, wakerOf(context)]
  if (prompt === null || by === null) return
  const orderId = `order_${deps.newId()}`
  const session = record.sessionId
  markPrompted(context, messages, by, orderId)
  const until = Date.parse(at) + ORDER_MS
  const give = (): void => {
    // Another process may have found no order yet and sent the messages in one of its own.
    if (!messages.some(({ message_id }) => deps.store.message(message_id)?.order_id === orderId)) return
    if (by === 'waiter')
      agent.waiter!.say(deps.liveDir, { clientPid: record.process!.pid, session, orderId, text: prompt })
    else agent.order!(deps.liveDir, { format: 1, orderId, session, do: 'say', prompt, until })
  }
  deps.store.afterCommit(() => deps.store.transaction(give))
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
export function settleOrders(context: SessionContext, prompt: string | null, takeBack: boolean): void {
  const { deps, record, at } = context
  for (const message of deps.store.openMessages(record.seatId)) {
    // Also one that was given up: what was typed and left standing may be sent by the person much later.
    if (prompt !== null && isWorthTurn(message) && prompt.includes(signOf(message))) {
      const via = message.via ?? 'keys'
      deps.store.putMessage({
        ...message,
        status: 'sent',
        via,
        sent_at: at,
        sent_to: record.sessionId,
        order_id: null,
      })
      continue
    }
    if (message.status !== 'sent' || !message.order_id) continue
    const fate = fateOf(context, message, takeBack)
    if (fate === 'not-done') requeue(context, message, false)
    else if (fate === 'unknown') settleLost(context, message)
  }
}

type Fate = 'on-its-way' | 'not-done' | 'unknown'

function fateOf({ deps, agent, record, at }: SessionContext, message: Message, takeBack: boolean): Fate {
  const session = message.sent_to ?? record.sessionId
  const orderId = message.order_id!
  const now = Date.parse(at)
  // Keys cannot be taken back: the client shows them in a moment, or never.
  if (message.via === 'keys') return now - Date.parse(message.sent_at!) < SHOWN_MS ? 'on-its-way' : 'unknown'
  const byWaiter = message.via === 'waiter'
  const look = () => (byWaiter ? saidBy : answerTo)(agent, deps.liveDir, session, orderId)
  let answer = look()
  if (answer === null) {
    const longest = byWaiter ? WAITER_MS : ORDER_MS
    const since = now - Date.parse(message.sent_at!)
    const isMissed = !byWaiter && since > scaleTimeout(NOTICE_MS) && isOverlooked(agent, deps.liveDir, session, orderId)
    if (isMissed) agent.giveUpOn?.(deps.liveDir, session)
    const due = takeBack || session !== record.sessionId || isMissed || since > longest
    if (!due) return 'on-its-way'
    if ((byWaiter ? agent.waiter?.unsay : agent.withdraw)?.(deps.liveDir, session, orderId)) return 'not-done'
    answer = look()
    // The order was never written, or another one replaced it.
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

/** Queues a message again that its client never confirmed, unless the conversation on disk holds it. */
export function settleLost(context: SessionContext, message: Message): void {
  const { deps, record } = context
  const to = message.sent_to ?? record.sessionId
  const given = to === record.sessionId ? record : deps.store.session(to)
  if (message.agent_text && isInTranscript(context, given?.transcriptPath ?? null, message)) deliver(context, message)
  else requeue(context, message, true)
}

/** Whether the conversation on disk holds a message that was given to it. */
export function isInTranscript(
  { deps, agent }: SessionContext,
  transcriptPath: string | null,
  message: Message,
): boolean {
  if (transcriptPath === null) return false
  const text = signOf(message)
  return deps.store.readUnlocked(`heard ${transcriptPath} ${text}`, () =>
    agent.transcriptContains(transcriptPath, text),
  )
}

export function deliver(context: SessionContext, message: Message): void {
  context.deps.store.putMessage({ ...message, status: 'delivered', delivered_at: context.at, order_id: null })
  emit(context, 'message_delivered', { message_id: message.message_id, via: message.via, repeated: message.repeated })
  if (message.brief_id) useUp(context, message.brief_id, message.session_id)
  if (!message.recovery) return
  const { compaction, steps } = message.recovery
  for (const { step, facts } of steps)
    emit(context, 'recovery_delivered', {
      message_id: message.message_id,
      compaction_started_at: compaction,
      step,
      facts,
    })
}

/** A brief given to a running session has arrived there. */
function useUp({ deps, record, at }: SessionContext, briefId: string, sessionId: string | null): void {
  const brief = deps.store.brief(briefId)
  const session = record.sessionId === sessionId ? record : sessionId && deps.store.session(sessionId)
  if (!brief || !session) return
  deps.store.putBrief({ ...brief, status: 'used', usedAt: at, usedBySessionId: sessionId, givenTo: null })
  session.lastHandoffPath = brief.path
  deps.store.putSession(session)
}

export function requeue({ deps }: SessionContext, message: Message, repeated: boolean): void {
  const waits = { status: 'queued', sent_at: null, via: null, sent_to: null, order_id: null } as const
  deps.store.putMessage({ ...message, ...waits, repeated: repeated || message.repeated })
}

/** A session nobody sits in any more, or that this one took the place of. */
export function isLeft({ deps, agent, record }: SessionContext, sessionId: string): boolean {
  const oldSession = deps.store.session(sessionId)
  if (oldSession === null || oldSession.state === 'ended' || oldSession.process === null) return true
  return sameProcess(oldSession.process, record.process) || !agent.alive(oldSession.process)
}

export function sameProcess(one: SessionRecord['process'], other: SessionRecord['process']): boolean {
  return one?.pid === other?.pid && one?.startedAt === other?.startedAt
}
