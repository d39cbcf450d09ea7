import { readFileSync, statSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { patience } from './patience.js'

/**
 * The line a running server keeps in `run/server` (mode 0600), where hooks and commands of the same
 * user find it.
 */
export interface AnnouncedServer {
  port: number
  token: string
  pid: number
  /**
   * Sent first on a connection. Worthless to a foreign listener: only the real server knows the
   * proof that answers it.
   */
  hello: string
  /**
   * The server's answer to `hello`. Callers send the token and the conversation only after they
   * have read it.
   */
  proof: string
}

export const PREFACE = 'BATON '

const LINE = /^(\d{1,5}) ([\x21-\x7e]+) (\d{1,10}) ([0-9a-f]{16}) ([0-9a-f]{16})\n$/

export function announcementLine({ port, token, pid, hello, proof }: AnnouncedServer): string {
  return `${port} ${token} ${pid} ${hello} ${proof}\n`
}

/**
 * Null when no server of this user announced itself in the file. The server may have died since:
 * see `proveServer`.
 */
export function readAnnouncement(file: string): AnnouncedServer | null {
  let line: RegExpExecArray | null
  try {
    if (statSync(file).uid !== process.getuid?.()) return null
    line = LINE.exec(readFileSync(file, 'latin1'))
  } catch {
    return null
  }
  if (line === null) return null
  const [, port, token, pid, hello, proof] = line as unknown as string[]
  return { port: Number(port), token: token!, pid: Number(pid), hello: hello!, proof: proof! }
}

/**
 * Why there is no proof. `nobody`: the port is closed. `silent`: no answer in time. `stranger`:
 * another program answers.
 */
export type Unproven = 'nobody' | 'silent' | 'stranger'

/**
 * Connects to the announced port and returns the connection once the listener has proven that it is
 * the server that wrote the announcement. The next bytes on the connection are an HTTP request; use
 * it instead of a second connection, which might reach another listener.
 */
export function proveServer(
  { port, hello, proof }: AnnouncedServer,
  timeoutMs = patience(1_000),
): Promise<Socket | Unproven> {
  const expected = `${proof}\r\n`
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const fail = (why: Unproven): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(why)
    }
    const timer = setTimeout(() => fail('silent'), timeoutMs)
    let answer = ''
    const read = (chunk: Buffer): void => {
      answer += chunk.toString('latin1')
      if (!expected.startsWith(answer)) fail('stranger')
      if (answer !== expected) return
      clearTimeout(timer)
      socket.off('data', read).off('close', closed)
      resolve(socket)
    }
    const closed = (): void => fail('stranger')
    socket.on('error', (error) => fail('code' in error && error.code === 'ECONNREFUSED' ? 'nobody' : 'stranger'))
    socket.on('close', closed)
    socket.on('data', read)
    socket.write(`${PREFACE}${hello}\r\n`)
  })
}

export interface FoundServer extends AnnouncedServer {
  /** Proven to lead to the server; used once, for one HTTP request. */
  socket: Socket
}

/**
 * The running server of this user with a proven connection to it. Null when none runs or it does
 * not answer.
 */
export async function findServer(file: string): Promise<FoundServer | null> {
  const announced = readAnnouncement(file)
  if (announced === null) return null
  const socket = await proveServer(announced)
  return typeof socket === 'string' ? null : { ...announced, socket }
}

/** The file with the url and pid of the server that holds the lock of this home. */
export const servingFile = (serverFile: string): string => join(dirname(serverFile), 'serving')

/** Where the holder of the lock listens. Null while it starts. */
export function readServingUrl(serverFile: string): { url: string; pid: number } | null {
  try {
    const [url = '', pid = ''] = readFileSync(servingFile(serverFile), 'utf8').trim().split(' ')
    return /^http:/.test(url) ? { url, pid: Number(pid) } : null
  } catch {
    return null
  }
}
