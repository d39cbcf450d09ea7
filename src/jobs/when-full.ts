/** What is left below the compaction point for the request of the brief and the brief itself. */
const ROOM_FOR_BRIEF = 6_000

export interface Climb {
  /** Where the client compacts, or refuses; null: not known. */
  point: number | null
  window: number | null
  /** The part of the way that is left when the session is handed over. */
  remaining: number
  /** How much the last batches added, newest last. */
  growth: readonly number[]
  /** Where a level of the agent asks for a handoff; null or absent: none does. */
  level?: number | null
}

/**
 * From how many tokens on a session is stopped; null: nobody knows where it ends, and it is not stopped. One more batch must fit below
 * the point: the client compacts before the request that would cross it, and a batch may bring more than the part that was configured.
 */
export function fullAt(climb: Climb): number | null {
  const [by, level] = [fullByItself(climb), climb.level ?? null]
  return level === null || by === null ? (by ?? level) : Math.min(by, level)
}

function fullByItself({ point, window, remaining, growth }: Climb): number | null {
  const end = point ?? (window === null ? null : Math.floor(window * 0.8))
  if (end === null) return null
  const wanted = Math.floor(end * (1 - clamp(remaining)))
  const most = Math.max(0, ...growth.slice(-8))
  const safe = end - ROOM_FOR_BRIEF - most
  // Whatever one batch brought, half the way is always used: else a session of large steps would be handed over at once.
  return Math.max(Math.floor(end / 2), Math.min(wanted, safe))
}

export function isFull(used: number, climb: Climb): boolean {
  const at = fullAt(climb)
  return at !== null && used >= at
}

/**
 * Whether a session is not full, if it held `before` with its last answer and a batch has brought so many bytes since: a token is a byte at
 * least. False: it may be.
 */
export function hasRoom(before: number, bytes: number, climb: Climb): boolean {
  const most = before + bytes + UNSEEN
  return fullAt(climb) !== null && !isFull(most, { ...climb, growth: [...climb.growth, bytes + UNSEEN] })
}

/** What the client itself adds to a request: reminders, files it was pointed to. */
const UNSEEN = 4_000

const clamp = (part: number): number => Math.min(0.95, Math.max(0.01, part))
