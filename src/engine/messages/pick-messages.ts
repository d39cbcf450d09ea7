import type { Agent } from '../../agents/agent.js'
import type { Message } from '../../contract/records/message.js'
import { REPEATED, signOf } from './message-text.js'

/** The most characters that every client passes on whole; the rest waits for the next answer. */
export const LONGEST = 9_000

/** Why a message is not given at the moment that was asked about. */
export type WaitReason =
  | 'meant for another session of its seat'
  | 'the session is about to be handed over'
  | 'the fresh session begins with its brief first'
  | 'the session is being compacted'
  | 'another prompt is given first'
  | 'a hook is giving it to the client'
  | 'an earlier message of the same sender is given first'
  | 'given when the turn ends'
  | 'given with the next event of the session'
  | 'the answer is full'

/** The moment at which messages are to be given. */
export interface Moment {
  sessionId: string
  /** Why everything that was sent to the seat has to wait; null when it need not. */
  held: WaitReason | null
  /** Ids of messages that a hook has taken and not yet confirmed. */
  inFlight: readonly string[]
  /** Messages that were given and may have to be repeated: nothing of the same sender may overtake them. */
  unsettled: readonly Message[]
  /** True for a prompt of its own, which only some messages are worth. */
  startsTurn: boolean
  /** The client's event whose answer carries the messages; null when no particular event is known. */
  carrier: { event: string; agent: Pick<Agent, 'carriers' | 'turnEnds'> } | null
}

export interface Picked {
  /** Messages to give now, oldest first; at least one, however long, if there is any. */
  now: Message[]
  waiting: { message: Message; reason: WaitReason }[]
}

/**
 * Picks the messages to give at a moment, and says of each other one why it waits. `open`: all
 * messages of the seat, oldest first; those that are not queued are left out of both lists.
 */
export function pickMessages(open: readonly Message[], moment: Moment): Picked {
  const lineOf = ({ mode, sender }: Message): string => `${mode} ${sender}`
  const stopped = new Set(moment.unsettled.map(lineOf))
  const picked: Picked = { now: [], waiting: [] }
  let length = 0
  for (const message of open) {
    if (message.status !== 'queued') continue
    const isInFlight = moment.inFlight.includes(message.message_id)
    if (isInFlight) stopped.add(lineOf(message))
    const reason = isInFlight
      ? 'a hook is giving it to the client'
      : (reasonToWait(message, moment) ??
        (message.sender !== 'baton' && stopped.has(lineOf(message))
          ? 'an earlier message of the same sender is given first'
          : null))
    const grown = length + lengthOf(message)
    const isFull = picked.now.length > 0 && grown > LONGEST
    if (reason === null && !isFull) {
      picked.now.push(message)
      length = grown
      continue
    }
    picked.waiting.push({ message, reason: reason ?? 'the answer is full' })
    // Order is kept per sender, and whatever is behind a message that does not fit waits with it.
    if (reason === null) length = Number.POSITIVE_INFINITY
  }
  return picked
}

function reasonToWait(message: Message, { sessionId, held, startsTurn, carrier }: Moment): WaitReason | null {
  if (message.session_id !== null && message.session_id !== sessionId) return 'meant for another session of its seat'
  if (message.session_id === null && held !== null) return held
  if (startsTurn && !isWorthTurn(message)) return 'given with the next event of the session'
  if (carrier !== null && !canCarry(carrier.agent, message, carrier.event)) return 'given when the turn ends'
  return null
}

function lengthOf(message: Message): number {
  const sign = message.sender === 'baton' ? 0 : signOf(message).length
  return (message.agent_text ?? '').length + sign + REPEATED.length
}

/**
 * True for a message that may start a turn of an idle agent: somebody wrote to the seat, or a brief
 * is wanted now. Everything else Baton says is given with what happens anyway.
 */
export function isWorthTurn(message: Message): boolean {
  if (message.agent_text === null) return false
  return message.session_id === null || (message.category === 'handoff' && message.mode === 'urgent')
}

/** False for a `sequential` message of another sender between two steps of a turn. */
export function canCarry(agent: Pick<Agent, 'carriers' | 'turnEnds'>, message: Message, event: string): boolean {
  if (message.sender === 'baton' || message.mode !== 'sequential') return true
  return agent.turnEnds.includes(event) || agent.carriers.slice(1).includes(event)
}
