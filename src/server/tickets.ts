export const TICKET_MS = 60_000
const MOST = 100

export interface Tickets {
  make(now: Date): { ticket: string; expiresAt: string }
  /** True once, and only in its time. */
  take(ticket: string, now: Date): boolean
}

/** Lets one browser in, once, within a minute. Kept in memory: a restart forgets them. */
export function makeTickets(random: () => string = randomTicket): Tickets {
  const ends = new Map<string, number>()
  return {
    make(now) {
      for (const [ticket, end] of ends) if (end <= now.getTime() || ends.size >= MOST) ends.delete(ticket)
      const ticket = random()
      const end = now.getTime() + TICKET_MS
      ends.set(ticket, end)
      return { ticket, expiresAt: new Date(end).toISOString() }
    },
    take(ticket, now) {
      const end = ends.get(ticket)
      ends.delete(ticket)
      return end !== undefined && end > now.getTime()
    },
  }
}

const randomTicket = (): string => Buffer.from(crypto.getRandomValues(new Uint8Array(24))).toString('base64url')

const WINDOW_MS = 60_000
const FAILURES = 10
const MOST_ADDRESSES = 1_000

export interface Patience {
  /** Takes note of a wrong try. Seconds until this address may be wrong again; 0: it may be now. */
  failed(address: string, now: Date): number
}

/** Ten wrong tries a minute from one address are answered as any other: more are too many. */
export function makePatience(): Patience {
  const tries = new Map<string, number[]>()
  const recent = (address: string, now: Date): number[] =>
    (tries.get(address) ?? []).filter((at) => at > now.getTime() - WINDOW_MS)
  return {
    failed(address, now) {
      const before = recent(address, now)
      if (before.length >= FAILURES) return Math.ceil((before[0]! + WINDOW_MS - now.getTime()) / 1_000)
      if (tries.size >= MOST_ADDRESSES) tries.clear()
      tries.set(address, [...before, now.getTime()])
      return 0
    },
  }
}

const HELD_MS = 1_000
const MOST_HELD = 100

/** Who guesses waits a second for each answer: one after the other, a day has 86,400 of them. Nobody holds the server with more than `MOST_HELD`. */
export function makeDelay(): () => Promise<void> {
  let held = 0
  return async () => {
    if (held >= MOST_HELD) return
    held++
    await new Promise((resolve) => setTimeout(resolve, HELD_MS).unref())
    held--
  }
}
