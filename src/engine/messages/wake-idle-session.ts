import type { Agent } from '../../agents/agent.js'
import type { Message } from '../../contract/records/message.js'
import type { SessionRecord } from '../../contract/records/session.js'
import { scaleTimeout } from '../../lib/patience.js'
import { emit, type SessionContext } from '../context.js'
import { isOrderUnnoticed, ORDER_NOTICE_MS } from '../handoff/missed-orders.js'
import { messageMark, textsOf } from './message-text.js'
import { isWorthTurn } from './pick-messages.js'

/**
 * Wakes an idle session: the plugin module enters the message as a prompt when nothing blocks it.
 * A message entered as a prompt is `sent` until the client's event shows the prompt.
 * From then on the message is confirmed like any other.
 * A refused, late or withdrawn order leaves the message queued.
 * An earlier opportunity to deliver the message withdraws the order.
 * Without a plugin module, a hook that waits beside the idle client delivers the message.
 */

/**
 * Milliseconds an order may stay open. A dialog can be open for hours.
 * Baton can withdraw the order at any time.
 */
const ORDER_MS = 12 * 60 * 60_000
/** Milliseconds from the execution of an order until its prompt must be seen. */
const SHOWN_MS = 60_000
/**
 * Milliseconds of silence after which a session counts as idle.
 * No event reports that a long tool runs or that the user stopped the turn.
 */
export const IDLE_SILENCE_MS = 30_000

/**
 * Milliseconds for the waiting hook to start after a turn's end. Another hook runs at that event.
 */
const WAITER_MS = 5_000

/**
 * Returns how an idle session can be woken. Null when the session is not idle or cannot be woken.
 */
function wakerOf({ deps, agent, record, at }: SessionContext): 'order' | 'waiter' | null {
  const { process, state } = record
  if (record.attended !== true || process === null || state === 'ended') return null
  if (!isIdle({ record, at }) || !agent.alive(process)) return null
  if (agent.order && agent.takesOrders?.(deps.liveDir, record.sessionId, process)) return 'order'
  // A waiting hook cannot see whether a turn runs.
  const idle = state === 'idle' || state === 'unknown'
  const waiter = idle ? (agent.waiter?.of(deps.liveDir, process.pid) ?? null) : null
  return waiter === 'asleep' || (waiter === 'known' && Date.parse(at) - Date.parse(record.seenAt) < WAITER_MS)
    ? 'waiter'
    : null
}

/** True when the session is idle as far as Baton can tell. */
export function isIdle({ record, at }: Pick<SessionContext, 'record' | 'at'>): boolean {
  const { state, seenAt } = record
  return state === 'idle' || state === 'unknown' || Date.parse(at) - Date.parse(seenAt) > IDLE_SILENCE_MS
}

export const canWakeSession = (context: SessionContext): boolean => wakerOf(context) !== null

/** Marks messages as sent in a prompt whose arrival is not known yet. */
export function markSentAsPrompt(
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

/**
 * Gives all messages to the plugin module in one order.
 * The messages are stored first, because an unknown order would be executed unnoticed.
 */
export function wakeSession(context: SessionContext, messages: readonly Message[]): void {
  const { deps, agent, record, at } = context
  const [prompt, by] = [textsOf(messages).agent, wakerOf(context)]
  if (prompt === null || by === null) return
  const orderId = `order_${deps.newId()}`
  const session = record.sessionId
  markSentAsPrompt(context, messages, by, orderId)
  const until = Date.parse(at) + ORDER_MS
  const give = (): void => {
    // Another process may have sent the messages in an order of its own meanwhile.
    if (!messages.some(({ message_id }) => deps.store.message(message_id)?.order_id === orderId)) return
    if (by === 'waiter')
      agent.waiter!.say(deps.liveDir, { clientPid: record.process!.pid, session, orderId, text: prompt })
    else agent.order!(deps.liveDir, { format: 1, orderId, session, do: 'say', prompt, until })
  }
  deps.store.afterCommit(() => deps.store.transaction(give))
}

/** True when an order with messages is on its way to this seat. */
export function hasOpenOrder(messages: readonly Message[]): boolean {
  return messages.some((message) => message.status === 'sent' && message.order_id)
}

/**
 * Ways in which Baton prompts an idle client.
 * `order`: the plugin module does. `waiter`: a waiting hook does. `keys`: Baton types.
 */
const PROMPTED = ['order', 'waiter', 'keys']

/** True for a message that is sent as a new prompt. */
export function isSentAsPrompt(message: Message): boolean {
  return PROMPTED.includes(message.via ?? '')
}

/**
 * Settles the orders to this seat (terminal or job).
 * `prompt`: the prompt the client just got, which may be one of the ordered messages.
 * `takeBack`: withdraw the orders that were not begun.
 */
export function settleOrders(context: SessionContext, prompt: string | null, takeBack: boolean): void {
  const { deps, record, at } = context
  for (const message of deps.store.openMessages(record.seatId)) {
    // Abandoned messages count too, because the user may send the typed text much later.
    if (prompt !== null && isWorthTurn(message) && prompt.includes(messageMark(message))) {
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
    if (fate === 'not-done') requeueMessage(context, message, false)
    else if (fate === 'unknown') requeueUnconfirmedMessage(context, message)
  }
}

type Fate = 'on-its-way' | 'not-done' | 'unknown'

function fateOf({ deps, agent, record, at }: SessionContext, message: Message, takeBack: boolean): Fate {
  const session = message.sent_to ?? record.sessionId
  const orderId = message.order_id!
  const now = Date.parse(at)
  // Typed keys cannot be withdrawn. The client shows them at once or never.
  if (message.via === 'keys') return now - Date.parse(message.sent_at!) < SHOWN_MS ? 'on-its-way' : 'unknown'
  const byWaiter = message.via === 'waiter'
  const look = () => (byWaiter ? answerOfWaiter : answerOfMod)(agent, deps.liveDir, session, orderId)
  let answer = look()
  if (answer === null) {
    const longest = byWaiter ? WAITER_MS : ORDER_MS
    const since = now - Date.parse(message.sent_at!)
    const isMissed =
      !byWaiter && since > scaleTimeout(ORDER_NOTICE_MS) && isOrderUnnoticed(agent, deps.liveDir, session, orderId)
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

/** Start of an order, null when it was not begun. `refused`: why the order will not be executed. */
type Begun = { at: number; refused: string | null } | null

function answerOfMod(agent: Agent, liveDir: string, session: string, orderId: string): Begun {
  const answer = agent.orderAnswer?.(liveDir, session, orderId) ?? null
  return answer && { at: answer.at, refused: answer.state === 'refused' ? (answer.reason ?? '') : null }
}

function answerOfWaiter(agent: Agent, liveDir: string, session: string, orderId: string): Begun {
  const at = agent.waiter?.said(liveDir, session, orderId) ?? null
  return at === null ? null : { at, refused: null }
}

/** Queues an unconfirmed message again, unless the conversation on disk holds it. */
export function requeueUnconfirmedMessage(context: SessionContext, message: Message): void {
  const { deps, record } = context
  const to = message.sent_to ?? record.sessionId
  const given = to === record.sessionId ? record : deps.store.session(to)
  if (message.agent_text && isInTranscript(context, given?.transcriptPath ?? null, message))
    markMessageDelivered(context, message)
  else requeueMessage(context, message, true)
}

/** True when the conversation on disk holds a message that was sent to it. */
export function isInTranscript(
  { deps, agent }: SessionContext,
  transcriptPath: string | null,
  message: Message,
): boolean {
  if (transcriptPath === null) return false
  const text = messageMark(message)
  return deps.store.readUnlocked(`heard ${transcriptPath} ${text}`, () =>
    agent.transcriptContains(transcriptPath, text),
  )
}

export function markMessageDelivered(context: SessionContext, message: Message): void {
  context.deps.store.putMessage({ ...message, status: 'delivered', delivered_at: context.at, order_id: null })
  emit(context, 'message_delivered', { message_id: message.message_id, via: message.via, repeated: message.repeated })
  if (message.brief_id) markBriefUsed(context, message.brief_id, message.session_id)
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

/** Marks a brief given to a running session as used once it arrived. */
function markBriefUsed({ deps, record, at }: SessionContext, briefId: string, sessionId: string | null): void {
  const brief = deps.store.brief(briefId)
  const session = record.sessionId === sessionId ? record : sessionId && deps.store.session(sessionId)
  if (!brief || !session) return
  deps.store.putBrief({ ...brief, status: 'used', usedAt: at, usedBySessionId: sessionId, givenTo: null })
  session.lastHandoffPath = brief.path
  deps.store.putSession(session)
}

export function requeueMessage({ deps }: SessionContext, message: Message, repeated: boolean): void {
  const waits = { status: 'queued', sent_at: null, via: null, sent_to: null, order_id: null } as const
  deps.store.putMessage({ ...message, ...waits, repeated: repeated || message.repeated })
}

/** True for a session that has ended, whose process is dead, or that this session replaced. */
export function isSessionGone({ deps, agent, record }: SessionContext, sessionId: string): boolean {
  const oldSession = deps.store.session(sessionId)
  if (oldSession === null || oldSession.state === 'ended' || oldSession.process === null) return true
  return sameProcess(oldSession.process, record.process) || !agent.alive(oldSession.process)
}

export function sameProcess(one: SessionRecord['process'], other: SessionRecord['process']): boolean {
  return one?.pid === other?.pid && one?.startedAt === other?.startedAt
}
