import type { SeatRecord } from '../../contract/records/session.js'
import type { Observation, Signal } from '../../contract/signal.js'
import type { Store } from '../../store/store.js'
import { isOld, waitingHere } from '../handoff/waiting-briefs.js'

/** Signals that show a process at work in a session; the others may be stragglers of one it has left. */
const SITS_DOWN = new Set(['session-start', 'prompt', 'tool-batch'])

/**
 * Which seat a session belongs to. A known session keeps its seat, whatever process resumes it. Otherwise BATON_SEAT names
 * it, a fork gets a new one under the seat it was forked from, a process that already has a seat keeps it (so `/clear`
 * does), and else a new seat is made.
 */
export function seatFor(
  store: Store,
  signal: Signal,
  observation: Observation,
  knownSeatId: string | null,
  at: string,
  newId: () => string,
): SeatRecord {
  const process = observation.process
  const running = (): SeatRecord | null =>
    process === null ? null : store.seatOfProcess(process.pid, process.startedAt)
  const keep = (seat: SeatRecord): SeatRecord => {
    if (!process || (seat.process?.pid === process.pid && seat.process.startedAt === process.startedAt)) return seat
    const other = running()
    if (other && !SITS_DOWN.has(signal.kind)) return seat
    // A process sits in one seat: when it resumes another's session, the next `/clear` belongs there.
    if (other) store.putSeat({ ...other, process: null })
    const moved = { ...seat, process }
    store.putSeat(moved)
    return moved
  }
  /** A seat that was first heard of as somebody's parent learns of its own when it starts. */
  const withParent = (seat: SeatRecord): SeatRecord => {
    const parentSeatId = parentOf(store, signal, at, newId)
    if (parentSeatId === null || parentSeatId === seat.seatId) return seat
    const placed = { ...seat, parentSeatId }
    store.putSeat(placed)
    return placed
  }
  const known = knownSeatId === null ? null : store.seat(knownSeatId)
  if (known) return keep(known)

  const named = signal.seat === null ? null : (store.seatByName(signal.seat) ?? store.seat(signal.seat))
  if (named) return keep(named.parentSeatId === null ? withParent(named) : named)

  const forked = observation.forkedFrom === null ? null : store.session(observation.forkedFrom)
  const fork = signal.start?.source === 'fork' || forked !== null
  const other = running()
  // A process cannot change its environment: its BATON_SEAT names nobody once its seat was renamed.
  if (other && !fork && (signal.seat === null || other.name !== null)) return other

  const left = leftSeat(store, signal, at)
  if (left && !other && !fork && signal.seat === null) return keep(left)

  if (other) store.putSeat({ ...other, process: null })
  const seat: SeatRecord = {
    seatId: `seat_${newId()}`,
    name: signal.seat,
    parentSeatId: forked?.seatId ?? (fork ? other?.seatId : null) ?? parentOf(store, signal, at, newId),
    process,
    createdAt: at,
  }
  store.putSeat(seat)
  return seat
}

/** A parent named before it was ever seen gets its seat now, so that notices to it have an address. */
function parentOf(store: Store, signal: Signal, at: string, newId: () => string): string | null {
  const name = signal.parentSeat
  if (name === null || name === signal.seat) return null
  const found = store.seat(name) ?? store.seatByName(name)
  if (found) return found.seatId
  const seat: SeatRecord = { seatId: `seat_${newId()}`, name, parentSeatId: null, process: null, createdAt: at }
  store.putSeat(seat)
  return seat.seatId
}

/**
 * A seat whose session ended with its brief ready: the next start in the same folder takes it up, if it is the only one there. Of several
 * none is taken: nobody can tell which was meant. One that has waited too long is only offered (`offer-briefs.ts`).
 */
function leftSeat(store: Store, signal: Signal, at: string): SeatRecord | null {
  const here = waitingHere(store, signal, at).filter((handoff) => !isOld(handoff, at))
  return here.length === 1 ? store.seat(here[0]!.seatId) : null
}
