import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Caller } from '../access.js'
import { DATA } from '../headers.js'
import { HEARTBEAT } from './frames.js'
import type { LiveSource } from './source.js'
import { beginView, bytesOf, type View } from './view.js'

const TICK_MS = 100
const HEARTBEAT_MS = 15_000
const BEAT = Buffer.from(HEARTBEAT)
/** How long those who come may keep the others waiting. */
const SNAPSHOTS_MS = 50
/** Who owes more than this for longer than that is dropped; who owes far more, at once. */
const MAX_UNSENT = 1024 * 1024
const PATIENCE_MS = 1_000
const FAR_TOO_MUCH = 16 * 1024 * 1024

export interface Client {
  /** What it knows already; null: nothing. */
  readonly lastEventId: number | null
  /** When its key ends; null: it has none. */
  readonly until: Date | null
  write(bytes: Buffer): void
  /** Bytes that were written and not taken yet. */
  unsent(): number
  end(): void
  drop(): void
}

export interface Hub {
  /** Returns what takes it out again. */
  join(client: Client): () => void
  readonly clients: number
  close(): void
}

interface Joined {
  client: Client
  /** What it was told at the beginning holds everything up to this event. */
  from: number
  /** What it got at the beginning may be more than a client is allowed to owe. */
  allowance: number
  /** Since when it owes too much; null: it does not. */
  owesSince: number | null
}

/**
 * Makes the one hub of all listeners. While there is one, the hub asks the store ten times a second
 * what is new, writes each message once and sends the same bytes to all. Without listeners nothing
 * runs and nothing is kept.
 */
export function makeHub(source: LiveSource, clock: () => number = () => performance.now()): Hub {
  let joined: Joined[] = []
  let waiting: Client[] = []
  let view: View | null = null
  let timer: NodeJS.Timeout | null = null
  let beatAt = 0

  const tick = (): void => {
    const now = clock()
    view ??= beginView(source)
    const shown = view
    const frames = shown.next(now)
    for (const one of joined) checkOn(one, now)
    const beat = now - beatAt >= HEARTBEAT_MS
    if (beat) beatAt = now
    const lowest = Math.min(...frames.flatMap(({ id }) => id ?? []))
    const all = bytesOf(frames)
    for (const one of joined) {
      const bytes = one.from >= lowest ? bytesOf(frames.filter(({ id }) => id === null || id > one.from)) : all
      if (bytes.length > 0) one.client.write(bytes)
      else if (beat) one.client.write(BEAT)
    }
    sendSnapshots(shown)
  }

  /** Before more is written: a burst is no fault of theirs. */
  const checkOn = (one: Joined, now: number): void => {
    const unsent = one.client.unsent()
    if (unsent <= MAX_UNSENT) one.allowance = 0
    one.owesSince = unsent > MAX_UNSENT + one.allowance ? (one.owesSince ?? now) : null
    const isSlow =
      one.owesSince !== null && (now - one.owesSince >= PATIENCE_MS || unsent > FAR_TOO_MUCH + one.allowance)
    const isOver = one.client.until !== null && one.client.until <= source.now()
    if (!isSlow && !isOver) return
    leave(one.client)
    if (isSlow) one.client.drop()
    else one.client.end()
  }

  const sendSnapshots = (shown: View): void => {
    if (waiting.length === 0) return
    const begin = shown.snapshot()
    const end = clock() + SNAPSHOTS_MS
    // Whoever cannot be told yet, because the store fails for a moment, goes on waiting.
    for (const client of waiting) {
      if (clock() > end) break
      const bytes = begin(client.lastEventId)
      waiting = waiting.filter((one) => one !== client)
      joined.push({ client, from: shown.last(), allowance: bytes.length, owesSince: null })
      client.write(bytes)
    }
  }

  const leave = (client: Client): void => {
    joined = joined.filter((one) => one.client !== client)
    waiting = waiting.filter((one) => one !== client)
    if (joined.length + waiting.length > 0 || timer === null) return
    clearTimeout(timer)
    timer = null
    view = null
  }

  const run = (): void => {
    timer = setTimeout(run, TICK_MS)
    try {
      tick()
    } catch (error) {
      // The store may be locked for a moment: what is new is still new then.
      source.complain(error)
    }
  }

  return {
    join(client) {
      waiting.push(client)
      if (timer === null) timer = setTimeout(run, 0)
      return () => leave(client)
    },
    get clients() {
      return joined.length + waiting.length
    },
    close() {
      for (const client of [...waiting, ...joined.map((one) => one.client)]) {
        leave(client)
        client.end()
      }
    },
  }
}

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
function lastEventIdOf({ headers, url }: Pick<IncomingMessage, 'headers' | 'url'>): number | null {
  const said =
    headers['last-event-id']?.toString() ?? new URLSearchParams((url ?? '').split('?')[1] ?? '').get('last_event_id')
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
