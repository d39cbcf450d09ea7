import type { Log } from '../lib/log.js'
import { scaleTimeout } from '../lib/patience.js'

export interface LeaseLimits {
  /** Interval between two renewals of the lease (right of hooks to call the server). */
  everyMs: number
  /** Seconds for which hooks call the server after a renewal. */
  seconds: number
  /** Maximum connections of unknown callers between two renewals. More of them end the lease. */
  mostUnknown: number
}

/**
 * Limits that end the lease before a flood fills the kernel's connection queue (4,096 on Linux).
 * A process of another user can fill the queue in less than a second.
 * A hook that connects then waits for seconds, which bash cannot bound.
 * Hooks of this user make a few known connections a second.
 */
const LIMITS: LeaseLimits = { everyMs: 5_000, seconds: scaleTimeout(15_000) / 1_000, mostUnknown: 1_000 }

export interface Lease {
  /** Counts a connection whose caller is not known yet. */
  accepted(): void
  /** Subtracts a connection whose caller has given the hello or the token. */
  recognised(): void
  stop(): void
}

/**
 * Renews the time until which hooks call this server.
 * A server that is stopped or hangs does not renew the time.
 * A server that is flooded by unknown callers ends the time at once, until the flood is over.
 * After that time, hooks work without the server.
 */
export function keepLease(write: (until: number) => void, log: Log, limits: LeaseLimits = LIMITS): Lease {
  let unknown = 0
  let isFlooded = false
  const renew = (): void => {
    isFlooded = unknown > limits.mostUnknown
    unknown = 0
    if (!isFlooded) write(Math.floor(Date.now() / 1_000) + limits.seconds)
  }
  renew()
  const timer = setInterval(renew, limits.everyMs)
  timer.unref()
  return {
    accepted() {
      if (++unknown <= limits.mostUnknown || isFlooded) return
      isFlooded = true
      write(0)
      log('warn', 'other programs open too many connections, so hooks work without the server', {
        connections: unknown,
      })
    },
    recognised() {
      unknown--
    },
    stop: () => clearInterval(timer),
  }
}
