import type { SessionRow } from '../../../src/contract/api/sessions.js'
import { containsWords } from '../parts/contains-words.js'
import { folderName, shortId } from '../parts/format.js'

/** A seat: what users and other agents talk to, with the chain of sessions behind it. */
export interface Seat {
  seat_id: string
  name: string
  /** The session seen last; an ended one only when all of the chain have ended. */
  current: SessionRow
  /** The other sessions of the chain that the page has rows of, newest first. */
  earlier: readonly SessionRow[]
  /** Cost of the whole chain. Null when no client reported a cost. */
  cost_usd: number | null
}

export function seatsOf(sessions: Iterable<SessionRow>): Seat[] {
  const chains = new Map<string, SessionRow[]>()
  for (const row of sessions) {
    const chain = chains.get(row.seat_id)
    if (chain) chain.push(row)
    else chains.set(row.seat_id, [row])
  }
  return [...chains.values()].map((chain) => {
    const [current, ...earlier] = chain.sort((a, b) => (recencyKey(a) < recencyKey(b) ? 1 : -1)) as [
      SessionRow,
      ...SessionRow[],
    ]
    const costs = chain.flatMap(({ spend }) => spend.cost_usd ?? [])
    const cost_usd = costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0)
    return { seat_id: current.seat_id, name: seatName(current), current, earlier, cost_usd }
  })
}

const recencyKey = ({ state, seen_at }: SessionRow): string => `${state === 'ended' ? 0 : 1}${seen_at}`

type NamedSeat = Pick<SessionRow, 'seat_name' | 'project' | 'cwd' | 'session_id'> &
  Partial<Pick<SessionRow, 'job_id' | 'title'>>

/**
 * Returns the seat's own name, else the session's title, its folder or the beginning of its id.
 * Ten unnamed terminals in one folder differ by their titles.
 * A job's seat gets the job's title, because its own name is only the job's id.
 */
export function seatName(row: NamedSeat): string {
  const folder = row.project ?? row.cwd
  const isJob = row.seat_name !== null && row.seat_name === row.job_id
  const [first, second] = isJob ? [row.title, row.seat_name] : [row.seat_name, row.title]
  return first ?? second ?? (folder === null ? shortId(row.session_id) : folderName(folder))
}

/** True when both have the same rows, so that the seat need not be redrawn. */
export function isSameSeat(a: Seat, b: Seat): boolean {
  return (
    a.current === b.current &&
    a.earlier.length === b.earlier.length &&
    a.earlier.every((row, n) => row === b.earlier[n])
  )
}

/** True when the seat's session ended, or vanished without an end signal (state unknown). */
export const isSeatOver = ({ current }: Seat): boolean => current.state === 'ended' || current.state === 'unknown'

/** True when the seat's names, ids and states contain every word of `words`. */
export function seatMatches(seat: Seat, words: string): boolean {
  return containsWords(searchText(seat), words)
}

/** Cached search texts by seat: every typed letter searches the texts of all seats. */
const SEARCH_TEXTS = new WeakMap<Seat, string>()

function searchText(seat: Seat): string {
  const cached = SEARCH_TEXTS.get(seat)
  if (cached !== undefined) return cached
  const { project, branch, model, title, state, level, seat_id, session_id, job_id, cwd } = seat.current
  const ids = seat.earlier.map((row) => row.session_id)
  const about = [seat.name, title, project, branch, model, state, level, seat_id, session_id, job_id, cwd, ...ids]
  const text = about.join('\n').toLowerCase()
  SEARCH_TEXTS.set(seat, text)
  return text
}
