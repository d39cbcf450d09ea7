import type { Mode } from '../level.js'

export type MessageStatus = 'queued' | 'sent' | 'delivered' | 'cancelled'

/** One thing to be told to a seat, once. `sent`: given to the client, not yet confirmed by its next event. */
export interface Message {
  message_id: string
  seat_id: string
  /** The session it speaks of; a warning reaches no other. */
  session_id: string | null
  sender: string
  category: string
  mode: Mode
  /** For the agent; null: nothing for the agent. */
  agent_text: string | null
  /** For the person before the client; null: nothing for the person. */
  user_text: string | null
  /** When the person was told; the agent's part may still wait for an answer that can carry it. */
  user_told_at: string | null
  status: MessageStatus
  queued_at: string
  sent_at: string | null
  delivered_at: string | null
  /** The client's event in whose answer it travelled; `order`: as a prompt of its own, by the part of Baton inside the client. */
  via: string | null
  /** The session it was given to; absent or null: none yet, or the one it speaks of. */
  sent_to?: string | null
  /** The order that carries it, until the client shows the prompt; absent or null: none does. */
  order_id?: string | null
  /** Where the whole text lies when it is longer than a client takes. */
  text_file?: string | null
  /** The signal in whose answer it travelled, where that has an id: if its hook did not hear the answer, it waits again. */
  sent_with?: string | null
  /** What it does, where somebody counts on its arrival: facts put back after the compaction that began then. */
  recovery?: { compaction: string; steps: { step: 1 | 2; facts: number }[] }
  /** The brief it gives to a running session, which is used once it has arrived. */
  brief_id?: string
  /** Given again because the client died before it could have asked the model. */
  repeated: boolean
}
