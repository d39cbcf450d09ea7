import type { Agent } from '../../agents/agent.js'
import type { Message } from '../../contract/records/message.js'
import { messageMark, REPEATED_MARK } from './message-text.js'

/**
 * Most characters that every client passes on in full. Further messages wait for the next answer.
 */
export const MAX_ANSWER_CHARACTERS = 9_000

/** Reason why a message is not delivered now. */
export type WaitReason =
  | 'it is for another session of its seat'
  | 'the session is about to be handed over'
  | 'the fresh session gets its brief first'
  | 'the session is being compacted'
  | 'another prompt is delivered first'
  | 'a hook is delivering it'
  | 'an earlier message of the same sender is delivered first'
  | 'delivered when the turn ends'
  | 'delivered with the next event of the session'
  | 'the next answer to the client is full'

/** The situation in which messages are delivered. */
export interface DeliveryMoment {
  sessionId: string
  /** Reason why all messages to the seat (terminal or job) must wait. Null when they need not. */
  held: WaitReason | null
  /** Ids of messages that a hook has taken and not confirmed yet. */
  inFlight: readonly string[]
  /** Messages that may have to be repeated. Later ones of the same sender must wait for them. */
  unsettled: readonly Message[]
  /** True for delivery in a new prompt, which only some messages justify. */
  startsTurn: boolean
  /** Event whose answer delivers the messages. Null when no particular event is known. */
  carrier: { event: string; agent: Pick<Agent, 'carriers' | 'turnEnds'> } | null
}

interface Picked {
  /**
   * Messages to deliver now, oldest first.
   * Contains at least one message if any may be delivered, however long the message is.
   */
  now: Message[]
  waiting: { message: Message; reason: WaitReason }[]
}

/**
 * Picks the messages to deliver now. Returns for each other message why it waits.
 * `open`: all messages of the seat, oldest first. Messages that are not queued are in neither list.
 */
export function pickMessages(open: readonly Message[], moment: DeliveryMoment): Picked {
  const lineOf = ({ mode, sender }: Message): string => `${mode} ${sender}`
  const stopped = new Set(moment.unsettled.map(lineOf))
  const picked: Picked = { now: [], waiting: [] }
  let length = 0
  for (const message of open) {
    if (message.status !== 'queued') continue
    const isInFlight = moment.inFlight.includes(message.message_id)
    if (isInFlight) stopped.add(lineOf(message))
    const reason = isInFlight
      ? 'a hook is delivering it'
      : (reasonToWait(message, moment) ??
        (message.sender !== 'baton' && stopped.has(lineOf(message))
          ? 'an earlier message of the same sender is delivered first'
          : null))
    const grown = length + lengthOf(message)
    const isFull = picked.now.length > 0 && grown > MAX_ANSWER_CHARACTERS
    if (reason === null && !isFull) {
      picked.now.push(message)
      length = grown
      continue
    }
    picked.waiting.push({ message, reason: reason ?? 'the next answer to the client is full' })
    // Each sender's messages keep their order, so those behind one that does not fit wait with it.
    if (reason === null) length = Number.POSITIVE_INFINITY
  }
  return picked
}

function reasonToWait(message: Message, { sessionId, held, startsTurn, carrier }: DeliveryMoment): WaitReason | null {
  if (message.session_id !== null && message.session_id !== sessionId) return 'it is for another session of its seat'
  if (message.session_id === null && held !== null) return held
  if (startsTurn && !isWorthTurn(message)) return 'delivered with the next event of the session'
  if (carrier !== null && !canDeliverIn(carrier.agent, message, carrier.event)) return 'delivered when the turn ends'
  return null
}

function lengthOf(message: Message): number {
  const sign = message.sender === 'baton' ? 0 : messageMark(message).length
  return (message.agent_text ?? '').length + sign + REPEATED_MARK.length
}

/**
 * True for a message that may start a turn of an idle agent.
 * Messages to the seat and urgent requests for a brief may start a turn.
 * All other messages from Baton are delivered with the next event.
 */
export function isWorthTurn(message: Message): boolean {
  if (message.agent_text === null) return false
  return message.session_id === null || (message.category === 'handoff' && message.mode === 'urgent')
}

/** False for a `sequential` message of another sender between two steps of a turn. */
export function canDeliverIn(agent: Pick<Agent, 'carriers' | 'turnEnds'>, message: Message, event: string): boolean {
  if (message.sender === 'baton' || message.mode !== 'sequential') return true
  return agent.turnEnds.includes(event) || agent.carriers.slice(1).includes(event)
}
