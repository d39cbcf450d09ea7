import * as v from 'valibot'
import { MODES } from '../level.js'
import { limit, type Routes, words } from './route.js'
import { maybe, text, time } from './shapes.js'

export const message = v.object({
  message_id: text,
  seat_id: text,
  session_id: maybe(text),
  sender: text,
  category: text,
  mode: v.picklist(MODES),
  text: maybe(text),
  status: v.picklist(['queued', 'sent', 'delivered', 'cancelled']),
  /** Why it waits; null once it has reached the agent or was cancelled. */
  reason: maybe(text),
  queued_at: time,
  delivered_at: maybe(time),
  via: maybe(text),
  repeated: v.boolean(),
})
export type MessageShown = v.InferOutput<typeof message>

export const newMessage = v.strictObject({
  text: v.pipe(text, v.trim(), v.minLength(1), v.maxLength(100_000)),
  mode: v.optional(v.picklist(MODES), 'sequential'),
})

/** Routes of messages. */
export const messageRoutes = {
  allMessages: {
    method: 'get',
    path: '/api/messages',
    summary: 'Messages to all seats, or to the one that is named by its id, its name or a session; newest last',
    query: { seat: words, limit: limit(1_000) },
    reply: v.object({ messages: v.array(message) }),
    refusals: [404],
  },
  messages: {
    method: 'get',
    path: '/api/sessions/{id}/messages',
    summary: 'What its seat was told',
    query: { limit: limit(1_000) },
    reply: v.object({ messages: v.array(message) }),
    refusals: [404],
  },
  send: {
    method: 'post',
    path: '/api/sessions/{id}/messages',
    summary: 'Tell its agent something',
    body: newMessage,
    reply: message,
    refusals: [404, 409],
  },
  unsend: {
    method: 'delete',
    path: '/api/messages/{id}',
    summary: 'Take a message back that was not given yet',
    reply: message,
    refusals: [404, 409],
  },
} as const satisfies Routes
