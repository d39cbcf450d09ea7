import type { Socket } from 'node:net'
import type { Asking, Judged } from './guard.js'
import type { Reply, SignalRequest } from './signals.js'

/**
 * The short way in for hooks. A launcher sends one small request per connection and waits for the answer; Node's HTTP server
 * spends more on such a connection than the engine on its signal. So the first bytes are looked at: a plain
 * `POST /signals/…` is read here, everything else goes to the HTTP server untouched. Programs may keep the connection for more.
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
const IDLE_S = 30
/** For a request that comes in pieces, however busy it is. */
const SLOW_MS = 10_000
const NAME = /^[\w!#$%&'*+.^`|~-]+$/
const NOTHING = Buffer.alloc(0)

/** One request after the other: the next is looked at when the last is answered, and any of them may be for the HTTP server. */
export function admit(socket: Socket, door: Door): void {
  socket.on('error', () => socket.destroy())
  // Who keeps a connection is told a little less than this, and so never writes into one that is just being closed.
  const tooStill = (): void => void socket.destroy()
  socket.setTimeout((IDLE_S + 1) * 1000, tooStill)
  let read: Buffer = NOTHING
  let head: Welcome | null = null
  let slow: NodeJS.Timeout | null = null
  let isAnswering = false
  let isOver = false

  const look = (): void => {
    if (isAnswering || isOver || read.length === 0) return
    head ??= begin()
    if (isOver) return
    if (head !== null && read.length >= head.bodyAt + head.length) take(head)
    else slow ??= tooSlow(socket)
  }
  const more = (chunk: Buffer): void => {
    read = read.length === 0 ? chunk : Buffer.concat([read, chunk])
    look()
  }
  /** null: it has not come yet, or is not for this door. */
  const begin = (): Welcome | null => {
    const start = Math.min(read.length, START.length)
    const isOurs = read.subarray(0, start).equals(START.subarray(0, start))
    const end = isOurs ? read.indexOf(HEAD_END) : -1
    // A head may come in pieces.
    if (isOurs && end < 0 && read.length < MAX_HEAD) return null
    const said = end < 0 ? null : readHead(read, end)
    if (said === null) {
      letGo()
      socket.setTimeout(0, tooStill)
      door.pass(socket, read)
      return null
    }
    const { host, origin, authorization } = said.headers
    const judged = door.judge({ host, origin, authorization, site: said.headers['sec-fetch-site'] })
    if (judged.status === null) return { ...said, words: judged.caller.words }
    letGo()
    answer(socket, judged.status, JSON.stringify({ error: judged.reason }), false)
    socket.resume()
    return null
  }
  const take = ({ path, headers, words, bodyAt, length, keeps }: Welcome): void => {
    const body = read.subarray(bodyAt, bodyAt + length)
    read = read.length === bodyAt + length ? NOTHING : read.subarray(bodyAt + length)
    head = null
    isAnswering = true
    rest()
    socket.pause()
    let isAnswered = false
    door.take({ path, headers, body, words }, (status, text) => {
      // A second answer would be taken for that of the next request.
      if (isAnswered) return
      isAnswered = true
      isAnswering = false
      answer(socket, status, text, keeps)
      if (!keeps) letGo()
      socket.resume()
      look()
    })
  }
  const rest = (): void => {
    if (slow) clearTimeout(slow)
    slow = null
  }
  const letGo = (): void => {
    isOver = true
    rest()
    socket.off('data', more)
  }
  socket.once('close', rest)
  socket.on('data', more)
}

const tooSlow = (socket: Socket): NodeJS.Timeout => setTimeout(() => socket.destroy(), SLOW_MS)

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

interface Welcome extends Head {
  words: boolean
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
  if (headers['transfer-encoding'] !== undefined || headers.expect !== undefined || headers.upgrade !== undefined) return null
  const [, path = '', version] = request.split(' ')
  const keeps = version === 'HTTP/1.1' && !/\bclose\b/i.test(headers.connection ?? '')
  return { path, headers, length, bodyAt: end + HEAD_END.length, keeps }
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
