import type { Socket } from 'node:net'

/**
 * Maximum number of open connections of unknown callers.
 * Programs of this user give the hello or the token with their first bytes.
 * Therefore few of their connections are unknown at any moment.
 */
const MOST_UNKNOWN = 500

export interface ConnectionLimit {
  /** Counts a connection whose caller is not known yet. */
  accepted(socket: Socket): void
  /** Exempts a connection, whose caller gave the hello, the token or a key. */
  recognised(socket: Socket): void
}

/**
 * Closes the oldest connections of unknown callers when there are too many.
 * Otherwise another user could use up the server's file descriptors.
 * Three processes used up 20,000 within 30 seconds.
 * The server needs them for its own user's requests, for transcripts and for the store.
 *
 * Node accepts all waiting connections at once and reads from them one loop iteration later.
 * Connections are closed only after that iteration, so that no caller is cut off unread.
 */
export function limitConnections(most = MOST_UNKNOWN): ConnectionLimit {
  /** Open connections in the order of their arrival, with the iteration in which they arrived. */
  const unknown = new Map<Socket, number>()
  let iteration = 0
  let isTrimming = false
  const trim = (): void => {
    iteration++
    for (const [socket, arrival] of unknown) {
      if (unknown.size <= most || arrival + 2 > iteration) break
      unknown.delete(socket)
      socket.destroy()
    }
    isTrimming = unknown.size > most
    if (isTrimming) setImmediate(trim)
  }
  return {
    accepted(socket) {
      unknown.set(socket, iteration)
      socket.once('close', () => unknown.delete(socket))
      if (unknown.size <= most || isTrimming) return
      isTrimming = true
      setImmediate(trim)
    },
    recognised: (socket) => void unknown.delete(socket),
  }
}
