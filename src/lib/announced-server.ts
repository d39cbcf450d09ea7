import { readFileSync, statSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { dirname, join } from 'node:path'
import { scaleTimeout } from './patience.js'

/**
 * The line that a running server keeps in `run/server` (mode 0600).
 * Hooks and commands of the same user find the server by this line.
 */
export interface AnnouncedServer {
  port: number
  token: string
  pid: number
  /**
   * The first text that a caller sends on a connection.
   * A foreign listener gains nothing from it: only the real server knows the matching proof.
   */
  hello: string
  /**
   * The server's answer to `hello`.
   * Callers send the token and the conversation only after they have read this proof.
   */
  proof: string
}

export const ANNOUNCEMENT_PREFIX = 'BATON '

const LINE = /^(\d{1,5}) ([\x21-\x7e]+) (\d{1,10}) ([0-9a-f]{16}) ([0-9a-f]{16})\n$/

/** Formats the line for `run/server`. */
export function announcementLine({ port, token, pid, hello, proof }: AnnouncedServer): string {
  return `${port} ${token} ${pid} ${hello} ${proof}\n`
}

/**
 * Reads the server's announcement. Null when no server of this user has written one.
 * The server may have died since. `proveServer` finds out.
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
 * Why a listener did not prove to be the server.
 * nobody: the port is closed. silent: no answer in time. stranger: another program answered.
 */
export type ProofFailure = 'nobody' | 'silent' | 'stranger'

/**
 * Connects to the announced port and checks that the listener is the server that announced it.
 * Returns the connection, whose next bytes are an HTTP request.
 * Use the returned connection, because a second one might reach another listener.
 */
export function proveServer(
  { port, hello, proof }: AnnouncedServer,
  timeoutMs = scaleTimeout(1_000),
): Promise<Socket | ProofFailure> {
  const expected = `${proof}\r\n`
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const fail = (why: ProofFailure): void => {
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
    socket.write(`${ANNOUNCEMENT_PREFIX}${hello}\r\n`)
  })
}

/** A running server that proved its identity. */
export interface ConnectedServer extends AnnouncedServer {
  /** Connection that was proven to lead to the server. It serves one HTTP request. */
  socket: Socket
}

/**
 * Finds this user's running server and opens a proven connection to it.
 * Null when no server runs or it does not answer.
 */
export async function connectToServer(file: string): Promise<ConnectedServer | null> {
  const announced = readAnnouncement(file)
  if (announced === null) return null
  const socket = await proveServer(announced)
  return typeof socket === 'string' ? null : { ...announced, socket }
}

/** Path of the file with the URL and pid of the server that holds the lock of this home. */
export const servingFile = (serverFile: string): string => join(dirname(serverFile), 'serving')

/** Reads the address of the server that holds the lock. Null while that server starts. */
export function readServingUrl(serverFile: string): { url: string; pid: number } | null {
  try {
    const [url = '', pid = ''] = readFileSync(servingFile(serverFile), 'utf8').trim().split(' ')
    return /^http:/.test(url) ? { url, pid: Number(pid) } : null
  } catch {
    return null
  }
}
