import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Caller } from '../access.js'
import { DATA } from '../headers.js'
import type { Hub } from './hub.js'

/** More than these would be a mistake of somebody. */
const MOST = 1_000

/** `GET /api/live` on the connection itself: the hub's bytes are written as they are, for all who listen the same. */
export function stream(hub: Hub, caller: Caller, request: IncomingMessage, response: ServerResponse): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    refuse(response, 405, 'This is only read', { Allow: 'GET, HEAD' })
    return
  }
  if (hub.clients >= MOST) {
    refuse(response, 503, 'Too many are listening', { 'Retry-After': '5' })
    return
  }
  response.writeHead(200, { ...DATA, 'Content-Type': 'text/event-stream; charset=utf-8', 'X-Accel-Buffering': 'no' })
  if (request.method === 'HEAD') {
    response.end()
    return
  }
  response.flushHeaders()
  const { socket } = request
  socket.setTimeout(0)
  socket.setNoDelay(true)
  const leave = hub.join({
    words: caller.words,
    lastEventId: lastEventIdOf(request),
    until: caller.expiresAt === null ? null : new Date(caller.expiresAt),
    write: (bytes) => void response.write(bytes),
    unsent: () => response.writableLength,
    end: () => response.end(),
    drop: () => socket.destroy(),
  })
  response.once('close', leave)
}

/** What the client saw last; a browser says it in a header, others may in the address. null: it says nothing that could be an id. */
export function lastEventIdOf({ headers, url }: Pick<IncomingMessage, 'headers' | 'url'>): number | null {
  const said = headers['last-event-id']?.toString() ?? new URLSearchParams((url ?? '').split('?')[1] ?? '').get('last_event_id')
  return said && /^\d{1,15}$/.test(said) ? Number(said) : null
}

function refuse(response: ServerResponse, status: number, error: string, headers: Record<string, string>): void {
  const body = JSON.stringify({ error })
  response.writeHead(status, {
    ...DATA,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    ...headers,
  })
  response.end(body)
}
