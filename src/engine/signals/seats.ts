import type { SeatRecord } from '../../contract/records/session.js'
import type { Observation, Signal } from '../../contract/signal.js'
import type { Store } from '../../store/store.js'
import { handoffsWaitingHere, isTooOldToUse } from '../handoff/waiting-briefs.js'

/** Signals that prove that a process works in this session. Other signals may arrive late. */
const PROVES_WORK = new Set(['session-start', 'prompt', 'tool-batch'])

/**
 * Returns the seat (terminal or job) that a session belongs to.
 * A known session keeps its seat, whichever process resumes the session.
 * A new session gets the seat named by BATON_SEAT.
 * Without that name, a fork gets a new seat below its origin.
 * Any other session gets the seat of its process (so `/clear` keeps it), or a new seat.
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
    if (other && !PROVES_WORK.has(signal.kind)) return seat
    // A process has one seat.
    // After it resumes a session of another seat, its next `/clear` belongs to that seat.
    if (other) store.putSeat({ ...other, process: null })
    const moved = { ...seat, process }
    store.putSeat(moved)
    return moved
  }
  /** Adds the parent of a seat that was created only as another seat's parent, once it starts. */
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
  // The environment of a process is fixed, so BATON_SEAT keeps the old name after a rename.
  if (other && !fork && (signal.seat === null || other.name !== null)) return other

  const left = seatWithWaitingBrief(store, signal, at)
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

/**
 * Returns the parent seat's id. Creates that seat if needed, so that messages can be sent to it.
 */
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
 * Returns the seat whose session ended with a ready brief in this folder, for the next start there.
 * Null when several such seats exist, as nothing tells which seat is meant.
 * A brief that has waited too long is only offered (`offer-briefs.ts`).
 */
function seatWithWaitingBrief(store: Store, signal: Signal, at: string): SeatRecord | null {
  const here = handoffsWaitingHere(store, signal, at).filter((handoff) => !isTooOldToUse(handoff, at))
  return here.length === 1 ? store.seat(here[0]!.seatId) : null
}
