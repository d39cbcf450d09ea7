import type { Socket } from 'node:net'
import type { Asking, Judged } from './guard.js'
import type { Reply, SignalRequest } from './signals.js'

/**
 * The short way in for hooks. A launcher sends one small request per connection and waits for the answer; Node's HTTP server
 * spends more on such a connection than the engine on its signal. So the first bytes are looked at: a plain
 * `POST /signals/…` is read here, everything else goes to the HTTP server untouched.
 */
export interface Door {
  judge(asking: Asking): Judged
  take(request: SignalRequest, reply: Reply): void
  /** Hands the connection to the HTTP server, with what was read of it. */
  pass(socket: Socket, read: Buffer): void
}

const START = Buffer.from('POST /signals/')
const HEAD_END = Buffer.from('\r\n\r\n')
const MAX_HEAD = 16 * 1024
const MAX_SHORT_BODY = 1024 * 1024
const IDLE_MS = 30_000
/** For a request that comes in pieces, however busy it is. */
const SLOW_MS = 10_000
const NAME = /^[\w!#$%&'*+.^`|~-]+$/

export function admit(socket: Socket, door: Door): void {
  socket.on('error', () => socket.destroy())
  socket.setTimeout(IDLE_MS, () => socket.destroy())
  let read: Buffer = Buffer.alloc(0)
  let slow: NodeJS.Timeout | null = null
  const look = (chunk: Buffer): void => {
    read = read.length === 0 ? chunk : Buffer.concat([read, chunk])
    const start = Math.min(read.length, START.length)
    const ours = read.subarray(0, start).equals(START.subarray(0, start))
    const end = ours ? read.indexOf(HEAD_END) : -1
    // A head may come in pieces.
    if (ours && end < 0 && read.length < MAX_HEAD) {
      slow ??= tooSlow(socket)
      return
    }
    if (slow) clearTimeout(slow)
    socket.off('data', look)
    const head = end < 0 ? null : readHead(read, end)
    if (head === null) door.pass(socket, read)
    else receive(socket, read, head, door)
  }
  socket.on('data', look)
}

function tooSlow(socket: Socket): NodeJS.Timeout {
  const timer = setTimeout(() => socket.destroy(), SLOW_MS)
  socket.once('close', () => clearTimeout(timer))
  return timer
}

interface Head {
  path: string
  headers: Record<string, string>
  length: number
  bodyAt: number
}

/** null: not for this door (chunked, expecting an interim answer, large, or not quite HTTP). */
function readHead(bytes: Buffer, end: number): Head | null {
  const [request = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n')
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon <= 0) return null
    const name = line.slice(0, colon).toLowerCase()
    // Said twice is for the HTTP server to judge.
    if (headers[name] !== undefined || !NAME.test(name) || /[\r\n\0]/.test(line)) return null
    headers[name] = line.slice(colon + 1).trim()
  }
  const length = /^\d{1,9}$/.test(headers['content-length'] ?? '') ? Number(headers['content-length']) : Number.NaN
  if (Number.isNaN(length) || length > MAX_SHORT_BODY) return null
  if (headers['transfer-encoding'] !== undefined || headers.expect !== undefined) return null
  return { path: request.split(' ')[1] ?? '', headers, length, bodyAt: end + HEAD_END.length }
}

function receive(socket: Socket, first: Buffer, head: Head, door: Door): void {
  const reply: Reply = (status, body) => {
    if (socket.destroyed) return
    socket.end(
      `HTTP/1.1 ${status} ${PHRASES[status] ?? 'Done'}\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\nX-Baton: 1\r\n\r\n${body}`,
    )
  }
  const { host, origin, authorization } = head.headers
  const judged = door.judge({ host, origin, authorization, site: head.headers['sec-fetch-site'] })
  if (judged.status !== null) {
    reply(judged.status, JSON.stringify({ error: judged.reason }))
    return
  }
  const { words } = judged.caller
  const parts = [first.subarray(head.bodyAt)]
  let size = parts[0]!.length
  const done = (): boolean => {
    if (size < head.length) return false
    const body = (parts.length === 1 ? parts[0]! : Buffer.concat(parts)).subarray(0, head.length)
    door.take({ path: head.path, headers: head.headers, body, words }, reply)
    return true
  }
  if (done()) {
    socket.resume()
    return
  }
  const slow = tooSlow(socket)
  const more = (chunk: Buffer): void => {
    parts.push(chunk)
    size += chunk.length
    if (done()) {
      clearTimeout(slow)
      socket.off('data', more)
      socket.resume()
    }
  }
  socket.on('data', more)
}

const PHRASES: Record<number, string> = {
  200: 'OK',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
}
