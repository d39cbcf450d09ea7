import { createConnection } from 'node:net'

/** `sent`: the client has it in hand; that it was read is confirmed by the client's own event. */
export type SocketOutcome = 'sent' | 'text' | 'no-socket' | 'refused' | 'timeout'

const LARGEST_TEXT = 1024 * 1024
const TIMEOUT_MS = 2000
const GONE = ['ENOENT', 'ECONNREFUSED', 'ENOTSOCK']

/**
 * Says something to a running client over its own socket; the model is told that it comes from another session, not from the user.
 * Not for a session that bypasses permission checks: its client opens a dialog and holds the message until a person lets it through.
 * That question is the person's to answer; nothing here answers or avoids it.
 * `token`: needed only where the client cannot see who is asking.
 */
export function sayOverSocket(path: string, token: string | null, text: string, timeoutMs = TIMEOUT_MS): Promise<SocketOutcome> {
  if (text.trim() === '' || text.length > LARGEST_TEXT) return Promise.resolve('text')
  const lines = [...(token === null ? [] : [{ type: 'auth', token }]), { type: 'user', message: { role: 'user', content: text } }]
  return new Promise((resolve) => {
    const socket = createConnection({ path })
    const finish = (outcome: SocketOutcome): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(outcome)
    }
    const timer = setTimeout(() => finish('timeout'), timeoutMs)
    socket.on('error', (error: NodeJS.ErrnoException) => finish(GONE.includes(error.code ?? '') ? 'no-socket' : 'refused'))
    socket.on('connect', () => {
      socket.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    })
    // the client closes its side once it has read to the end
    socket.on('close', (hadError) => finish(hadError ? 'refused' : 'sent'))
    socket.resume()
  })
}
