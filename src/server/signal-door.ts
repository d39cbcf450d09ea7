import { timingSafeEqual } from 'node:crypto'
import type { Socket } from 'node:net'
import { PREFACE } from '../lib/announced-server.js'
import { type Judged, type RequestHead, TOKEN_NEEDED } from './guard.js'
import type { Reply, SignalRequest } from './signals.js'

/**
 * The short way in for hooks. A launcher sends one small request per connection and waits for the answer; Node's HTTP server
 * spends more on such a connection than the engine on its signal. So the first bytes are looked at: a plain
 * `POST /signals/…` is read here, everything else goes to the HTTP server untouched. Programs may keep the connection for more.
 */
export interface SignalReceiver {
  /**
   * A caller that begins with `BATON <hello>` wants to hear the proof before it sends anything
   * else.
   */
  identity: { hello: string; proof: string }
  /** How long a request that comes in pieces may take, however busy it is. */
  arrivalMs: number
  /** Called once for a connection whose caller gave the hello or the token. */
  recognise(): void
  judge(asking: RequestHead): Judged
  take(request: SignalRequest, reply: Reply): void
  /** Hands the connection to the HTTP server, with what was read of it. */
  pass(socket: Socket, read: Buffer): void
}

const START = Buffer.from('POST /signals/')
const PREFACE_START = Buffer.from(PREFACE)
const PREFACE_BYTES = PREFACE.length + 18
const HEAD_END = Buffer.from('\r\n\r\n')
const MAX_HEAD = 16 * 1024
const MAX_SHORT_BODY = 1024 * 1024
const IDLE_S = 30
/** How long a refused caller may take to read its refusal. */
const REFUSED_MS = 200
/**
 * The only request line read here. Every other one, valid or not, is for Node's HTTP server to
 * judge.
 */
const REQUEST_LINE = /^POST (\/signals\/[a-z0-9-]{1,64}\/[A-Za-z0-9-]{1,64}) HTTP\/1\.1$/
/**
 * A header as RFC 9112 writes it: no space before the colon, no folded line, no control character
 * but the tab. Reads each character once: a pattern that backtracked over blanks took 300 ms.
 */
export const HEADER = /^([\w!#$%&'*+.^`|~-]+):([\t\x20-\x7e\x80-\xff]*)$/
const LONE_LINE_END = /(^|[^\r])\n|\r[^\n]/
const NOTHING = Buffer.alloc(0)

/** One request after the other: the next is looked at when the last is answered, and any of them may be for the HTTP server. */
export function admit(socket: Socket, door: SignalReceiver): void {
  socket.on('error', () => socket.destroy())
  const tooSlow = (): NodeJS.Timeout => setTimeout(() => socket.destroy(), door.arrivalMs)
  // Who keeps a connection is told a little less than this, and so never writes into one that is just being closed.
  const tooStill = (): void => void socket.destroy()
  socket.setTimeout((IDLE_S + 1) * 1000, tooStill)
  let read: Buffer = NOTHING
  let head: Head | null = null
  let slow: NodeJS.Timeout | null = null
  let isAnswering = false
  let isOver = false
  let mayPreface = true
  let isKnown = false
  const recognise = (): void => {
    if (!isKnown) door.recognise()
    isKnown = true
  }

  const look = (): void => {
    if (isAnswering || isOver || read.length === 0) return
    if (mayPreface && !readPreface()) return
    head ??= begin()
    if (isOver) return
    if (head !== null && read.length >= head.bodyAt + head.length) take(head)
    else slow ??= tooSlow()
  }
  const more = (chunk: Buffer): void => {
    read = read.length === 0 ? chunk : Buffer.concat([read, chunk])
    look()
  }
  /**
   * True when the connection has no preface, or its preface was answered and more bytes follow it.
   */
  const readPreface = (): boolean => {
    const start = Math.min(read.length, PREFACE_START.length)
    if (!read.subarray(0, start).equals(PREFACE_START.subarray(0, start))) {
      mayPreface = false
      return true
    }
    if (read.length < PREFACE_BYTES) {
      slow ??= tooSlow()
      return false
    }
    if (!timingSafeEqual(read.subarray(0, PREFACE_BYTES), Buffer.from(`${PREFACE}${door.identity.hello}\r\n`))) {
      release()
      socket.destroy()
      return false
    }
    mayPreface = false
    recognise()
    rest()
    socket.write(`${door.identity.proof}\r\n`)
    read = read.subarray(PREFACE_BYTES)
    return read.length > 0
  }
  /** null: it has not come yet, or is not for this door. */
  const begin = (): Head | null => {
    const start = Math.min(read.length, START.length)
    const isOurs = read.subarray(0, start).equals(START.subarray(0, start))
    const end = isOurs ? read.indexOf(HEAD_END) : -1
    // A head may come in pieces. One with half a line end has no end that would be found here.
    if (isOurs && end < 0 && read.length < MAX_HEAD && !LONE_LINE_END.test(read.toString('latin1'))) return null
    const said = end < 0 || end > MAX_HEAD ? null : readHead(read, end)
    if (said === null) {
      release()
      socket.setTimeout(0, tooStill)
      door.pass(socket, read)
      return null
    }
    const { host, origin, authorization } = said.headers
    const judged = door.judge({ host, origin, authorization, site: said.headers['sec-fetch-site'] })
    if (judged.status === null && judged.caller.by !== 'nobody') {
      recognise()
      return said
    }
    const { status, reason, hint } = judged.status === null ? TOKEN_NEEDED : judged
    release()
    answer(socket, status, JSON.stringify({ error: reason, hint }), false)
    // Bytes that are on their way are dropped for a moment, so that the client can read the
    // refusal; then it is over.
    socket.resume()
    setTimeout(() => socket.destroy(), REFUSED_MS).unref()
    return null
  }
  const take = ({ path, headers, bodyAt, length, keeps }: Head): void => {
    const body = read.subarray(bodyAt, bodyAt + length)
    read = read.length === bodyAt + length ? NOTHING : read.subarray(bodyAt + length)
    head = null
    isAnswering = true
    rest()
    socket.pause()
    let isAnswered = false
    door.take({ path, headers, body }, (status, text) => {
      // A second answer would be taken for that of the next request.
      if (isAnswered) return
      isAnswered = true
      isAnswering = false
      answer(socket, status, text, keeps)
      if (!keeps) release()
      socket.resume()
      look()
    })
  }
  const rest = (): void => {
    if (slow) clearTimeout(slow)
    slow = null
  }
  const release = (): void => {
    isOver = true
    rest()
    socket.off('data', more)
  }
  socket.once('close', rest)
  socket.on('data', more)
}

function answer(socket: Socket, status: number, body: string, keeps: boolean): void {
  if (socket.destroyed) return
  const after = keeps ? `keep-alive\r\nKeep-Alive: timeout=${IDLE_S}` : 'close'
  const text = `HTTP/1.1 ${status} ${PHRASES[status] ?? 'Done'}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: ${after}\r\nX-Baton: 1\r\n\r\n${body}`
  if (keeps) socket.write(text)
  else socket.end(text)
}

interface Head {
  path: string
  headers: Record<string, string>
  length: number
  bodyAt: number
  /** More may follow on this connection. */
  keeps: boolean
}

/**
 * Null when the head is not exactly what hooks send: Node's HTTP server then judges it (chunked,
 * large, malformed, …).
 */
function readHead(bytes: Buffer, end: number): Head | null {
  const [request = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const path = REQUEST_LINE.exec(request)?.[1]
  if (path === undefined) return null
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const header = HEADER.exec(line)
    if (header === null) return null
    const name = header[1]!.toLowerCase()
    // A header given twice is for Node's HTTP server to judge.
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

/** Like `trim`, but keeps the no-break space, whose byte ends some UTF-8 letters. */
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
