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
  /** Seconds until this address may try again; 0: now. */
  wait(address: string, now: Date): number
  failed(address: string, now: Date): void
}

/** Ten wrong tries a minute from one address, then it has to wait. */
export function makePatience(): Patience {
  const tries = new Map<string, number[]>()
  const recent = (address: string, now: Date): number[] =>
    (tries.get(address) ?? []).filter((at) => at > now.getTime() - WINDOW_MS)
  return {
    wait(address, now) {
      const [first, ...rest] = recent(address, now)
      return first === undefined || rest.length + 1 < FAILURES ? 0 : Math.ceil((first + WINDOW_MS - now.getTime()) / 1_000)
    },
    failed(address, now) {
      if (tries.size >= MOST_ADDRESSES) tries.clear()
      tries.set(address, [...recent(address, now), now.getTime()].slice(-FAILURES))
    },
  }
}
