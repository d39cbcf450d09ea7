import { HEARTBEAT } from './frames.js'
import type { LiveSource } from './source.js'
import { beginView, bytesOf, remembered, type View } from './view.js'

const TICK_MS = 100
const HEARTBEAT_MS = 15_000
const BEAT = Buffer.from(HEARTBEAT)
/** How long those who come may keep the others waiting. */
const WELCOME_MS = 50
/** Who owes more than this for longer than that is dropped; who owes far more, at once. */
const MAX_UNSENT = 1024 * 1024
const PATIENCE_MS = 1_000
const FAR_TOO_MUCH = 16 * 1024 * 1024

export interface Client {
  readonly words: boolean
  /** What it knows already; null: nothing. */
  readonly lastEventId: number | null
  /** When its key ends; null: it has none. */
  readonly until: Date | null
  write(bytes: Buffer): void
  /** Bytes that were written and not taken yet. */
  unsent(): number
  end(): void
  drop(): void
}

export interface Hub {
  /** Returns what takes it out again. */
  join(client: Client): () => void
  readonly clients: number
  close(): void
}

interface Joined {
  client: Client
  /** What it was told at the beginning holds everything up to this event. */
  from: number
  /** What it got at the beginning may be more than a client is allowed to owe. */
  allowance: number
  /** Since when it owes too much; null: it does not. */
  owesSince: number | null
}

/**
 * One for all who listen: while there is one, the store is asked ten times a second what is new, each message is written once for each kind of
 * caller, and the same bytes go to all. Without listeners nothing runs and nothing is kept.
 */
export function makeHub(source: LiveSource, clock: () => number = () => performance.now()): Hub {
  let joined: Joined[] = []
  let waiting: Client[] = []
  let view: View | null = null
  let timer: NodeJS.Timeout | null = null
  let beatAt = 0

  const tick = (): void => {
    const now = clock()
    view ??= beginView(source)
    const shown = view
    const frames = shown.next(now)
    for (const one of joined) checkOn(one, now)
    const beat = now - beatAt >= HEARTBEAT_MS
    if (beat) beatAt = now
    const lowest = Math.min(...frames.flatMap(({ id }) => id ?? []))
    const shared = remembered((kind) => bytesOf(frames, kind === 'words'))
    for (const one of joined) {
      const own = one.from >= lowest ? frames.filter(({ id }) => id === null || id > one.from) : null
      const bytes = own ? bytesOf(own, one.client.words) : shared(one.client.words ? 'words' : 'figures')
      if (bytes.length > 0) one.client.write(bytes)
      else if (beat) one.client.write(BEAT)
    }
    welcome(shown)
  }

  /** Before more is written: a burst is no fault of theirs. */
  const checkOn = (one: Joined, now: number): void => {
    const unsent = one.client.unsent()
    if (unsent <= MAX_UNSENT) one.allowance = 0
    one.owesSince = unsent > MAX_UNSENT + one.allowance ? (one.owesSince ?? now) : null
    const isSlow = one.owesSince !== null && (now - one.owesSince >= PATIENCE_MS || unsent > FAR_TOO_MUCH + one.allowance)
    const isOver = one.client.until !== null && one.client.until <= source.now()
    if (!isSlow && !isOver) return
    leave(one.client)
    if (isSlow) one.client.drop()
    else one.client.end()
  }

  const welcome = (shown: View): void => {
    if (waiting.length === 0) return
    const begin = shown.snapshot()
    const end = clock() + WELCOME_MS
    // Whoever cannot be told yet, because the store fails for a moment, goes on waiting.
    for (const client of waiting) {
      if (clock() > end) break
      const bytes = begin(client)
      waiting = waiting.filter((one) => one !== client)
      joined.push({ client, from: shown.last(), allowance: bytes.length, owesSince: null })
      client.write(bytes)
    }
  }

  const leave = (client: Client): void => {
    joined = joined.filter((one) => one.client !== client)
    waiting = waiting.filter((one) => one !== client)
    if (joined.length + waiting.length > 0 || timer === null) return
    clearTimeout(timer)
    timer = null
    view = null
  }

  const run = (): void => {
    timer = setTimeout(run, TICK_MS)
    try {
      tick()
    } catch (error) {
      // The store may be locked for a moment: what is new is still new then.
      source.complain(error)
    }
  }

  return {
    join(client) {
      waiting.push(client)
      if (timer === null) timer = setTimeout(run, 0)
      return () => leave(client)
    },
    get clients() {
      return joined.length + waiting.length
    },
    close() {
      for (const client of [...waiting, ...joined.map((one) => one.client)]) {
        leave(client)
        client.end()
      }
    },
  }
}
