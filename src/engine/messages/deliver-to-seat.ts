import type { PreparedAnswer } from '../../contract/outbox.js'
import type { Event } from '../../contract/records/event.js'
import type { SessionRecord } from '../../contract/records/session.js'
import type { SignalKind } from '../../contract/signal.js'
import type { EngineDependencies, SessionContext } from '../context.js'
import { textsOf } from './message-text.js'
import { isWorthTurn } from './pick-messages.js'
import { messagesForPrompt, pickDeliverable, withdrawAnswers } from './ready-messages.js'
import {
  canWakeSession,
  hasOpenOrder,
  markSentAsPrompt,
  requeueMessage,
  requeueUnconfirmedMessage,
  sameProcess,
  settleOrders,
  wakeSession,
} from './wake-idle-session.js'

/**
 * Functions that send messages to a seat (terminal or job) without the client's next event.
 * Messages go by an order to the plugin module or by the outbox (files for hooks).
 */

/**
 * Prepares answers in the outbox, in a transaction of its own, so that they hold stored messages.
 */
export function prepareOutbox(context: SessionContext, kind: SignalKind | null): void {
  const { deps, agent, record } = context
  // If the client stops now, messages it was given may be repeated. They then go before later ones.
  const unsettled = deps.store.openMessages(record.seatId).filter(({ status }) => status === 'sent')
  // Select messages for each event separately.
  // A message that only the end of a turn may deliver must not take the room of another one.
  const answersFor = (inFlight: readonly string[]): PreparedAnswer[] =>
    agent.carriers.flatMap((event) => {
      const messages = pickDeliverable(context, kind, { inFlight, unsettled, carrier: { event, agent } })
      const text = agent.answer(event, textsOf(messages))
      return text === '' ? [] : [{ event, text, ids: messages.map(({ message_id }) => message_id) }]
    })
  if (deps.outbox.contains(record.sessionId, answersFor([]))) return
  const answers = answersFor(withdrawAnswers(context, record.sessionId))
  if (answers.length > 0) deps.outbox.store(record.sessionId, answers)
}

/**
 * Sends a seat's messages without waiting for its next event, in a transaction of its own.
 * An idle session that can be woken gets a prompt.
 * For other sessions, the next hook finds the messages in the outbox.
 */
export function sendToSeat(deps: EngineDependencies, seatId: string): void {
  deps.store.transaction(() => {
    const context = seatContext(deps, seatId)
    if (context === null) return
    const { agent, record } = context
    settleOrders(context, null, true)
    if (record.process !== null && !agent.alive(record.process)) settleDeadClient(context)
    // An order that was begun starts a turn at any moment, and later messages go with that turn.
    const called = messagesForPrompt(context)
    if (called.length > 0 && canWakeSession(context)) wakeSession(context, called)
    else {
      // The next signal decides more precisely which events are worth waiting for.
      deps.outbox.markNear(record.sessionId, [...agent.carriers.slice(0, 1), ...agent.turnEnds])
      prepareOutbox(context, null)
    }
  })
}

/** Sends queued messages if possible. If that fails, the answer to the next event delivers them. */
export function trySendToSeat(deps: EngineDependencies, seatId: string): void {
  try {
    sendToSeat(deps, seatId)
  } catch (error) {
    deps.log('warn', 'a message could not be sent', { seat: seatId, reason: String(error) })
  }
}

/** Settles messages of a dead client by its transcript, which shows what it received. */
function settleDeadClient(context: SessionContext): void {
  const { deps, record } = context
  withdrawAnswers(context, record.sessionId)
  const given = deps.store
    .openMessages(record.seatId)
    .filter(({ status, session_id }) => status === 'sent' && session_id === null)
  for (const message of given)
    if ((message.sent_to ?? record.sessionId) === record.sessionId) requeueUnconfirmedMessage(context, message)
}

/** Returns the session that currently works in a seat (terminal or job), else null. */
export function workingSession({ store }: Pick<EngineDependencies, 'store'>, seatId: string): SessionRecord | null {
  const process = store.seat(seatId)?.process ?? null
  const there = store.chain(seatId).filter(({ state }) => state !== 'ended')
  const own = process === null ? undefined : there.findLast((record) => sameProcess(record.process, process))
  return own ?? there.at(-1) ?? null
}

/**
 * Returns a context for messages to a seat (terminal or job) without a signal.
 * Null when the seat has no session, or when a job's runner delivers its messages.
 */
function seatContext(deps: EngineDependencies, seatId: string): SessionContext | null {
  const record = workingSession(deps, seatId)
  return record === null || record.jobId !== null ? null : messageContext(deps, record)
}

/** Returns a context for messages to a session. Null when its agent is unknown. */
export function messageContext(deps: EngineDependencies, record: SessionRecord): SessionContext | null {
  const agent = deps.agents[record.agent]
  return agent ? { deps, agent, record, at: deps.now().toISOString(), events: [] } : null
}

/**
 * Number of newest messages that are checked. Older ones wait for the events of their own session.
 */
const NEWEST = 200

/**
 * Checks queued and sent messages of all seats when no signal arrives.
 * Commands and the server call the function.
 * Messages of refused or late orders are queued again.
 * An idle session that can be woken by now is woken.
 */
export function checkSentMessages(deps: EngineDependencies): Event[] {
  const { store } = deps
  const open = store
    .messages({ limit: NEWEST })
    .filter((m) => isWorthTurn(m) && (m.status === 'queued' || Boolean(m.order_id)))
  return [...new Set(open.map(({ seat_id }) => seat_id))].flatMap((seatId) =>
    store.transaction(() => checkSeat(deps, seatId)),
  )
}

function checkSeat(deps: EngineDependencies, seatId: string): Event[] {
  const context = seatContext(deps, seatId)
  if (context === null) return []
  const before = hasOpenOrder(deps.store.openMessages(seatId))
  settleOrders(context, null, false)
  const open = deps.store.openMessages(seatId)
  const waits = open.some((message) => message.status === 'queued' && isWorthTurn(message))
  // The next hook must find the messages of an order that failed.
  if (waits && !hasOpenOrder(open) && (before || canWakeSession(context)))
    deps.store.afterCommit(() => sendToSeat(deps, seatId))
  return context.events
}

/** A prompt to be typed into the terminal of a session. */
interface TypedPrompt {
  seatId: string
  orderId: string
  sessionId: string
  text: string
}

/**
 * Returns the idle session of a seat that has waiting messages and is reached only by typing.
 * Null when there is no such session.
 */
export function sessionToTypeInto(deps: EngineDependencies, seatId: string): SessionRecord | null {
  const context = seatContext(deps, seatId)
  if (
    context === null ||
    context.record.attended !== true ||
    context.record.state !== 'idle' ||
    canWakeSession(context)
  )
    return null
  const { process } = context.record
  return process !== null && context.agent.alive(process) ? context.record : null
}

/** Stores the prompt before the first key is typed. Null when the messages were sent meanwhile. */
export function beginTypingMessages(deps: EngineDependencies, seatId: string): TypedPrompt | null {
  return deps.store.transaction(() => {
    const context = sessionToTypeInto(deps, seatId) === null ? null : seatContext(deps, seatId)
    if (context === null) return null
    settleOrders(context, null, true)
    const messages = messagesForPrompt(context)
    const text = textsOf(messages).agent
    if (text === null) return null
    const orderId = `keys_${deps.newId()}`
    markSentAsPrompt(context, messages, 'keys', orderId)
    return { seatId, orderId, sessionId: context.record.sessionId, text }
  })
}

/** Queues the messages again after nothing was typed. */
export function requeueUntypedMessages(deps: EngineDependencies, { seatId, orderId }: TypedPrompt): void {
  deps.store.transaction(() => {
    const context = seatContext(deps, seatId)
    if (context === null) return
    for (const message of deps.store.openMessages(seatId))
      if (message.order_id === orderId) requeueMessage(context, message, false)
    deps.store.afterCommit(() => sendToSeat(deps, seatId))
  })
}
