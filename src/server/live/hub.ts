import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Caller } from '../access.js'
import { DATA_HEADERS } from '../headers.js'
import { HEARTBEAT_FRAME } from './frames.js'
import type { LiveSource } from './source.js'
import { beginStreamView, bytesOf, type StreamView } from './view.js'

const TICK_MS = 100
const HEARTBEAT_MS = 15_000
const BEAT = Buffer.from(HEARTBEAT_FRAME)
/** Maximum time per tick for sending snapshots to new clients, while others wait. */
const SNAPSHOTS_MS = 50
/** Maximum unsent bytes. A client with more of them for `MAX_SLOW_MS` is dropped. */
const MAX_UNSENT = 1024 * 1024
const MAX_SLOW_MS = 1_000
const MAX_UNSENT_HARD = 16 * 1024 * 1024

export interface StreamClient {
  /** Id of the last event the client received. Null for a new client. */
  readonly lastEventId: number | null
  /** Time at which the client's key expires. Null for a caller with the token. */
  readonly until: Date | null
  write(bytes: Buffer): void
  /** Bytes that were written but not yet sent. */
  unsent(): number
  end(): void
  drop(): void
}

export interface Hub {
  /** Adds a client. Returns the function that removes it. */
  join(client: StreamClient): () => void
  readonly clients: number
  close(): void
}

interface Joined {
  client: StreamClient
  /** Id of the last event that the client's snapshot includes. */
  from: number
  /** Size of the snapshot. The limit of unsent bytes is raised by it until the snapshot is sent. */
  allowance: number
  /** Time since which the client has too many unsent bytes. Null when it has not. */
  slowSince: number | null
}

/**
 * Makes the hub that serves all clients of the event stream.
 * While there are clients, the hub polls the store ten times a second.
 * It writes each message once and sends the same bytes to all clients.
 * Without clients, nothing runs and nothing is held in memory.
 */
export function makeHub(source: LiveSource, clock: () => number = () => performance.now()): Hub {
  let joined: Joined[] = []
  let waiting: StreamClient[] = []
  let view: StreamView | null = null
  let timer: NodeJS.Timeout | null = null
  let beatAt = 0

  const tick = (): void => {
    const now = clock()
    view ??= beginStreamView(source)
    const shown = view
    const frames = shown.next(now)
    for (const one of joined) dropIfSlow(one, now)
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

  /**
   * Drops a slow client. Runs before more is written, so that a burst does not count against it.
   */
  const dropIfSlow = (one: Joined, now: number): void => {
    const unsent = one.client.unsent()
    if (unsent <= MAX_UNSENT) one.allowance = 0
    one.slowSince = unsent > MAX_UNSENT + one.allowance ? (one.slowSince ?? now) : null
    const isSlow =
      one.slowSince !== null && (now - one.slowSince >= MAX_SLOW_MS || unsent > MAX_UNSENT_HARD + one.allowance)
    const isOver = one.client.until !== null && one.client.until <= source.now()
    if (!isSlow && !isOver) return
    leave(one.client)
    if (isSlow) one.client.drop()
    else one.client.end()
  }

  const sendSnapshots = (shown: StreamView): void => {
    if (waiting.length === 0) return
    const begin = shown.snapshot()
    const end = clock() + SNAPSHOTS_MS
    // A client whose snapshot fails, because the store is locked, waits for the next tick.
    for (const client of waiting) {
      if (clock() > end) break
      const bytes = begin(client.lastEventId)
      waiting = waiting.filter((one) => one !== client)
      joined.push({ client, from: shown.last(), allowance: bytes.length, slowSince: null })
      client.write(bytes)
    }
  }

  const leave = (client: StreamClient): void => {
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
      // The store may be locked for a moment. The next tick reads the same changes again.
      source.logFailure(error)
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

/** Maximum number of clients. More clients can only be a mistake. */
const MAX_CLIENTS = 1_000

/** Serves `GET /api/live`: writes the hub's bytes, the same for all clients, to the connection. */
export function serveStream(hub: Hub, caller: Caller, request: IncomingMessage, response: ServerResponse): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    refuse(response, 405, 'The live stream accepts only GET.', { Allow: 'GET, HEAD' })
    return
  }
  if (hub.clients >= MAX_CLIENTS) {
    refuse(response, 503, 'Too many connections to the live stream.', { 'Retry-After': '5' })
    return
  }
  response.writeHead(200, {
    ...DATA_HEADERS,
    'Content-Type': 'text/event-stream; charset=utf-8',
    'X-Accel-Buffering': 'no',
  })
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

/** Last event id from the header, or from the query for other clients. Null when it is no id. */
function lastEventIdOf({ headers, url }: Pick<IncomingMessage, 'headers' | 'url'>): number | null {
  const given =
    headers['last-event-id']?.toString() ?? new URLSearchParams((url ?? '').split('?')[1] ?? '').get('last_event_id')
  return given && /^\d{1,15}$/.test(given) ? Number(given) : null
}

function refuse(response: ServerResponse, status: number, error: string, headers: Record<string, string>): void {
  const body = JSON.stringify({ error })
  response.writeHead(status, {
    ...DATA_HEADERS,
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    ...headers,
  })
  response.end(body)
}
