import * as v from 'valibot'
import { MODES } from '../level.js'
import { limit, optionalText, type Routes } from './route.js'
import { nullable, text, time } from './shapes.js'

/** A message to a seat (terminal or job). The fields are explained at the type `Message`. */
export const message = v.object({
  message_id: text,
  seat_id: text,
  session_id: nullable(text),
  sender: text,
  category: text,
  mode: v.picklist(MODES),
  text: nullable(text),
  status: v.picklist(['queued', 'sent', 'delivered', 'cancelled']),
  /** Why the message waits. Null once it reached the agent or was cancelled. */
  reason: nullable(text),
  queued_at: time,
  delivered_at: nullable(time),
  via: nullable(text),
  repeated: v.boolean(),
})
export type MessageView = v.InferOutput<typeof message>

/** Body of a request that sends a message. */
export const newMessage = v.strictObject({
  text: v.pipe(text, v.trim(), v.minLength(1), v.maxLength(100_000)),
  mode: v.optional(v.picklist(MODES), 'sequential'),
})

/** Routes of messages. */
export const messageRoutes = {
  allMessages: {
    method: 'get',
    path: '/api/messages',
    summary: 'Messages to all seats, or to one seat named by its id, its name or a session; newest last',
    query: { seat: optionalText, limit: limit(1_000) },
    reply: v.object({ messages: v.array(message) }),
    refusals: [404],
  },
  messages: {
    method: 'get',
    path: '/api/sessions/{id}/messages',
    summary: 'Messages to the seat of a session',
    query: { limit: limit(1_000) },
    reply: v.object({ messages: v.array(message) }),
    refusals: [404],
  },
  send: {
    method: 'post',
    path: '/api/sessions/{id}/messages',
    summary: 'Send a message to the agent of a session',
    body: newMessage,
    reply: message,
    refusals: [404, 409],
  },
  unsend: {
    method: 'delete',
    path: '/api/messages/{id}',
    summary: 'Cancel a message that is not delivered yet',
    reply: message,
    refusals: [404, 409],
  },
} as const satisfies Routes
