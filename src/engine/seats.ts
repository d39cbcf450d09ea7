import type { SeatRecord } from '../contract/record.js'
import type { Observation, Signal } from '../contract/signal.js'
import type { Store } from '../store/store.js'

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
  const keep = (seat: SeatRecord): SeatRecord => {
    const same = !process || (seat.process?.pid === process.pid && seat.process.startedAt === process.startedAt)
    if (same) return seat
    const moved = { ...seat, process }
    store.putSeat(moved)
    return moved
  }
  const known = knownSeatId === null ? null : store.seat(knownSeatId)
  if (known) return keep(known)

  const named = signal.seat === null ? null : (store.seatNamed(signal.seat) ?? store.seat(signal.seat))
  if (named) return keep(named)

  const forked = observation.forkedFrom === null ? null : store.session(observation.forkedFrom)
  const fork = signal.start?.source === 'fork' || forked !== null
  const running = process && !fork && signal.seat === null ? store.seatOfProcess(process.pid, process.startedAt) : null
  if (running) return running

  const seat: SeatRecord = {
    seatId: `seat_${newId()}`,
    name: signal.seat,
    parentSeatId: forked?.seatId ?? parentOf(store, signal, at, newId),
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
  const found = store.seat(name) ?? store.seatNamed(name)
  if (found) return found.seatId
  const seat: SeatRecord = { seatId: `seat_${newId()}`, name, parentSeatId: null, process: null, createdAt: at }
  store.putSeat(seat)
  return seat.seatId
}
