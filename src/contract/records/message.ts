import type { Mode } from '../level.js'

/**
 * queued: not given to a client yet. sent: given to the client, not confirmed by its next event.
 * delivered: confirmed. cancelled: withdrawn, outdated or forgotten before delivery.
 */
type MessageStatus = 'queued' | 'sent' | 'delivered' | 'cancelled'

/** A text for a seat, delivered once. */
export interface Message {
  message_id: string
  seat_id: string
  /** The session that the message is about; a warning reaches no other. Null for any session. */
  session_id: string | null
  sender: string
  category: string
  mode: Mode
  /** Text for the agent. Null when the message is only for the user. */
  agent_text: string | null
  /** Text for the user in the client. Null when the message is only for the agent. */
  user_text: string | null
  /**
   * When the user saw the message.
   * The agent's text may still wait for a hook answer that can carry it. Null until then.
   */
  user_told_at: string | null
  status: MessageStatus
  queued_at: string
  /** When the message was given to the client, and when that was confirmed. Null until then. */
  sent_at: string | null
  delivered_at: string | null
  /**
   * The client's event whose answer carried the message.
   * `order`: the plugin module submitted it as a prompt. Null until it was sent.
   */
  via: string | null
  /**
   * The session that received the message.
   * Absent or null when none has, or it is the one in `session_id`.
   */
  sent_to?: string | null
  /**
   * The order that carries the message, until the client shows the prompt.
   * Absent or null when no order carries it.
   */
  order_id?: string | null
  /**
   * File with the full text, when it is longer than the client accepts. Absent or null otherwise.
   */
  text_file?: string | null
  /**
   * Id of the signal whose answer carried the message.
   * If the hook did not receive that answer, the message is queued again.
   */
  sent_with?: string | null
  /**
   * Set on messages that give facts back after a compaction.
   * `compaction` is the start time of that compaction.
   */
  recovery?: { compaction: string; steps: { step: 1 | 2; facts: number }[] }
  /** The brief that the message gives to a running session. It counts as used on delivery. */
  brief_id?: string
  /** True when sent again, because the client died before it could ask the model. */
  repeated: boolean
}
