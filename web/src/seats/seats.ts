import type { SessionRow } from '../../../src/contract/api/sessions.js'
import { folderName, shortId } from '../format.js'

/** What people talk to, and the chain of sessions behind it. */
export interface Seat {
  seat_id: string
  name: string
  /** The session that sits in it: the last one heard of, those that have ended last. */
  current: SessionRow
  /** The others of its chain that are known here, newest first. */
  earlier: readonly SessionRow[]
  /** Over the whole chain; null: no client said. */
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
    const [current, ...earlier] = chain.sort((a, b) => (place(a) < place(b) ? 1 : -1)) as [SessionRow, ...SessionRow[]]
    const costs = chain.flatMap(({ spend }) => spend.cost_usd ?? [])
    const cost_usd = costs.length === 0 ? null : costs.reduce((sum, cost) => sum + cost, 0)
    return { seat_id: current.seat_id, name: seatName(current), current, earlier, cost_usd }
  })
}

const place = ({ state, seen_at }: SessionRow): string => `${state === 'ended' ? 0 : 1}${seen_at}`

/** Its own name, else its folder's, else the beginning of its id. */
export function seatName(row: Pick<SessionRow, 'seat_name' | 'project' | 'cwd' | 'session_id'>): string {
  const folder = row.project ?? row.cwd
  return row.seat_name ?? (folder === null ? shortId(row.session_id) : folderName(folder))
}

/** Nothing of it has to be drawn again. */
export function isSameSeat(a: Seat, b: Seat): boolean {
  return a.current === b.current && a.earlier.length === b.earlier.length && a.earlier.every((row, n) => row === b.earlier[n])
}

/** Ended, or gone without a word. */
export const isOver = ({ current }: Seat): boolean => current.state === 'ended' || current.state === 'unknown'

/** Everything somebody may look for it by. */
export function matches(seat: Seat, words: string): boolean {
  const text = textOf(seat)
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word))
}

/** Kept as long as its seat is: every letter that is typed asks all of them. */
const TEXTS = new WeakMap<Seat, string>()

function textOf(seat: Seat): string {
  const kept = TEXTS.get(seat)
  if (kept !== undefined) return kept
  const { project, branch, model, state, level, seat_id, session_id, job_id, cwd } = seat.current
  const ids = seat.earlier.map((row) => row.session_id)
  const about = [seat.name, project, branch, model, state, level, seat_id, session_id, job_id, cwd, ...ids]
  const text = about.join('\n').toLowerCase()
  TEXTS.set(seat, text)
  return text
}
