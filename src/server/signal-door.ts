import { timingSafeEqual } from 'node:crypto'
import type { Socket } from 'node:net'
import { ANNOUNCEMENT_PREFIX } from '../lib/announced-server.js'
import { type CallerCheck, type RequestHead, TOKEN_NEEDED_REPLY } from './guard.js'
import type { SendReply, SignalRequest } from './signals.js'

/**
 * Reads hook requests without Node's HTTP server, and replies to them.
 * Each hook's launcher sends one small request per connection.
 * Node's HTTP server needs more time for such a request than the engine for its signal.
 * A connection that starts with a plain `POST /signals/…` is read by `serveSignalConnection`.
 * Any other connection goes to the HTTP server unchanged.
 */
export interface SignalReceiver {
  /**
   * For a caller that starts with `BATON <hello>`: the caller wants the proof before it sends more.
   */
  identity: { hello: string; proof: string }
  /** Milliseconds for a request that arrives in pieces to be complete. */
  arrivalMs: number
  /** Called once for a connection whose caller gave the hello or the token. */
  recognise(socket: Socket): void
  judge(head: RequestHead): CallerCheck
  take(request: SignalRequest, reply: SendReply): void
  /** Hands the connection to the HTTP server, with the bytes already read. */
  pass(socket: Socket, read: Buffer): void
}

const START = Buffer.from('POST /signals/')
const PREFACE_START = Buffer.from(ANNOUNCEMENT_PREFIX)
const PREFACE_BYTES = ANNOUNCEMENT_PREFIX.length + 18
const HEAD_END = Buffer.from('\r\n\r\n')
const MAX_HEAD = 16 * 1024
const MAX_SHORT_BODY = 1024 * 1024
const IDLE_S = 30
/** Milliseconds for a refused caller to read its refusal. */
const REFUSED_MS = 200
/** The only request line read here. Any other line, valid or not, is left to Node's HTTP server. */
const REQUEST_LINE = /^POST (\/signals\/[a-z0-9-]{1,64}\/[A-Za-z0-9-]{1,64}) HTTP\/1\.1$/
/**
 * A header line as RFC 9112 defines it.
 * Refused are a space before the colon, a folded line, and control characters but the tab.
 * Reads each character once. A pattern that backtracked over blanks took 300 ms.
 */
export const HEADER_LINE = /^([\w!#$%&'*+.^`|~-]+):([\t\x20-\x7e\x80-\xff]*)$/
const LONE_LINE_END = /(^|[^\r])\n|\r[^\n]/
const NOTHING = Buffer.alloc(0)

/**
 * Serves the requests of a connection one after another.
 * If a request belongs to the HTTP server, that server gets the connection.
 */
export function serveSignalConnection(socket: Socket, door: SignalReceiver): void {
  socket.on('error', () => socket.destroy())
  const startArrivalTimer = (): NodeJS.Timeout => setTimeout(() => socket.destroy(), door.arrivalMs)
  // Clients are told a shorter timeout, so that none writes into a connection that is being closed.
  const closeIdle = (): void => void socket.destroy()
  socket.setTimeout((IDLE_S + 1) * 1000, closeIdle)
  let read: Buffer = NOTHING
  let head: Head | null = null
  let arrivalTimer: NodeJS.Timeout | null = null
  let isAnswering = false
  let isOver = false
  let mayPreface = true
  let isKnown = false
  const recognise = (): void => {
    if (!isKnown) door.recognise(socket)
    isKnown = true
  }

  const readNext = (): void => {
    if (isAnswering || isOver || read.length === 0) return
    if (mayPreface && !readPreface()) return
    head ??= readRequestHead()
    if (isOver) return
    if (head !== null && read.length >= head.bodyAt + head.length) take(head)
    else arrivalTimer ??= startArrivalTimer()
  }
  const onData = (chunk: Buffer): void => {
    read = read.length === 0 ? chunk : Buffer.concat([read, chunk])
    readNext()
  }
  /** True when the connection has no preface, or its preface was answered and more bytes follow. */
  const readPreface = (): boolean => {
    const start = Math.min(read.length, PREFACE_START.length)
    if (!read.subarray(0, start).equals(PREFACE_START.subarray(0, start))) {
      mayPreface = false
      return true
    }
    if (read.length < PREFACE_BYTES) {
      arrivalTimer ??= startArrivalTimer()
      return false
    }
    if (
      !timingSafeEqual(read.subarray(0, PREFACE_BYTES), Buffer.from(`${ANNOUNCEMENT_PREFIX}${door.identity.hello}\r\n`))
    ) {
      release()
      socket.destroy()
      return false
    }
    mayPreface = false
    recognise()
    stopArrivalTimer()
    socket.write(`${door.identity.proof}\r\n`)
    read = read.subarray(PREFACE_BYTES)
    return read.length > 0
  }
  /**
   * Returns the head of a request. Null when it is incomplete, for the HTTP server, or was refused.
   */
  const readRequestHead = (): Head | null => {
    const start = Math.min(read.length, START.length)
    const isOurs = read.subarray(0, start).equals(START.subarray(0, start))
    const end = isOurs ? read.indexOf(HEAD_END) : -1
    // A head may arrive in pieces. A head with a lone CR or LF is left to the HTTP server.
    if (isOurs && end < 0 && read.length < MAX_HEAD && !LONE_LINE_END.test(read.toString('latin1'))) return null
    const request = end < 0 || end > MAX_HEAD ? null : readHead(read, end)
    if (request === null) {
      release()
      socket.setTimeout(0, closeIdle)
      door.pass(socket, read)
      return null
    }
    const { host, origin, authorization } = request.headers
    const judged = door.judge({ host, origin, authorization, site: request.headers['sec-fetch-site'] })
    if (judged.status === null && judged.caller.by !== 'nobody') {
      recognise()
      return request
    }
    const { status, reason, hint } = judged.status === null ? TOKEN_NEEDED_REPLY : judged
    release()
    answer(socket, status, JSON.stringify({ error: reason, hint }), false)
    // Discard incoming bytes for a moment, so that the client can read the refusal; then close.
    socket.resume()
    setTimeout(() => socket.destroy(), REFUSED_MS).unref()
    return null
  }
  const take = ({ path, headers, bodyAt, length, keeps }: Head): void => {
    const body = read.subarray(bodyAt, bodyAt + length)
    read = read.length === bodyAt + length ? NOTHING : read.subarray(bodyAt + length)
    head = null
    isAnswering = true
    stopArrivalTimer()
    socket.pause()
    let isAnswered = false
    door.take({ path, headers, body }, (status, text) => {
      // A second answer would be read as the answer to the next request.
      if (isAnswered) return
      isAnswered = true
      isAnswering = false
      answer(socket, status, text, keeps)
      if (!keeps) release()
      socket.resume()
      readNext()
    })
  }
  const stopArrivalTimer = (): void => {
    if (arrivalTimer) clearTimeout(arrivalTimer)
    arrivalTimer = null
  }
  const release = (): void => {
    isOver = true
    stopArrivalTimer()
    socket.off('data', onData)
  }
  socket.once('close', stopArrivalTimer)
  socket.on('data', onData)
}

function answer(socket: Socket, status: number, body: string, keeps: boolean): void {
  if (socket.destroyed) return
  const after = keeps ? `keep-alive\r\nKeep-Alive: timeout=${IDLE_S}` : 'close'
  const head = `HTTP/1.1 ${status} ${PHRASES[status] ?? 'Done'}\r\nContent-Length: ${Buffer.byteLength(body)}`
  const text = `${head}\r\nConnection: ${after}\r\nX-Baton: 1\r\n\r\n${body}`
  if (keeps) socket.write(text)
  else socket.end(text)
}

interface Head {
  path: string
  headers: Record<string, string>
  length: number
  bodyAt: number
  /** True when more requests may follow on this connection. */
  keeps: boolean
}

/**
 * Parses the head of a signal.
 * Null when it is not exactly what hooks send (chunked, large, malformed, …).
 * Node's HTTP server then handles the request.
 */
function readHead(bytes: Buffer, end: number): Head | null {
  const [request = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const path = REQUEST_LINE.exec(request)?.[1]
  if (path === undefined) return null
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const header = HEADER_LINE.exec(line)
    if (header === null) return null
    const name = header[1]!.toLowerCase()
    // A request with the same header twice is left to Node's HTTP server.
    if (headers[name] !== undefined) return null
    headers[name] = trimBlanks(header[2]!)
  }
  const length = /^\d{1,9}$/.test(headers['content-length'] ?? '') ? Number(headers['content-length']) : Number.NaN
  if (Number.isNaN(length) || length > MAX_SHORT_BODY || headers.host === undefined) return null
  if (headers['transfer-encoding'] !== undefined || headers.expect !== undefined || headers.upgrade !== undefined)
    return null
  const keeps = !/\bclose\b/i.test(headers.connection ?? '')
  return { path, headers, length, bodyAt: end + HEAD_END.length, keeps }
}

/** Works like `trim`, but keeps the no-break space, whose byte ends some UTF-8 letters. */
function trimBlanks(value: string): string {
  let [start, end] = [0, value.length]
  while (start < end && isBlank(value.charCodeAt(start))) start++
  while (end > start && isBlank(value.charCodeAt(end - 1))) end--
  return value.slice(start, end)
}

const isBlank = (code: number): boolean => code === 0x20 || code === 0x09

const PHRASES: Record<number, string> = {
  200: 'OK',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}
