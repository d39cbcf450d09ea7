import type { DeliveryMode } from '../level.js'

/**
 * queued: not given to a client yet.
 * sent: given to the client, not confirmed by the client's next event. delivered: confirmed.
 * cancelled: withdrawn, outdated or forgotten before delivery.
 */
type MessageStatus = 'queued' | 'sent' | 'delivered' | 'cancelled'

/** A text for a seat (terminal or job), delivered once. */
export interface Message {
  message_id: string
  seat_id: string
  /** The session that the message is about. A warning reaches no other session. Null for any. */
  session_id: string | null
  sender: string
  category: string
  mode: DeliveryMode
  /** Text for the agent. Null when the message is only for the user. */
  agent_text: string | null
  /** Text for the user in the client. Null when the message is only for the agent. */
  user_text: string | null
  /**
   * When the user saw the message. Null until then.
   * The text for the agent may still wait for a hook whose answer the agent reads.
   */
  user_told_at: string | null
  status: MessageStatus
  queued_at: string
  /** When the message was given to the client, and when that was confirmed. Null until then. */
  sent_at: string | null
  delivered_at: string | null
  /**
   * The client's event whose answer contained the message. Null until the message was sent.
   * `order`: the plugin module submitted the message as a prompt.
   */
  via: string | null
  /**
   * The session that received the message.
   * Absent or null when no session received it, or the session in `session_id` did.
   */
  sent_to?: string | null
  /**
   * The order by which the plugin module submits the message, until the client shows the prompt.
   * Absent or null when the message is in no order.
   */
  order_id?: string | null
  /**
   * File with the full text, if the text is longer than the client accepts. Else absent or null.
   */
  text_file?: string | null
  /**
   * Id of the signal whose answer contained the message.
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
  /** True when the message was sent again, because the client died before it asked the model. */
  repeated: boolean
}
