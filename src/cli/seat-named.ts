import type { House } from '../house.js'
import { BatonError } from '../lib/errors.js'
import { nearestName } from '../lib/nearest-name.js'
import { sessionNamed } from './open-house.js'

/** A seat by id or name, or that of a session. It may have no session yet: somebody named it as a parent. Throws when there is none. */
export function seatNamed(house: House, name: string): string {
  const seat = house.store.seat(name) ?? house.store.seatNamed(name)
  if (seat) return seat.seatId
  try {
    return sessionNamed(house, name).seatId
  } catch (error) {
    const nearest = error instanceof BatonError ? nearestName(name, seatNames(house)) : null
    if (nearest === null || !(error instanceof BatonError)) throw error
    throw new BatonError(error.message, `Did you mean ${nearest}?`, error.exit, error.details)
  }
}

function seatNames(house: House): string[] {
  const ids = new Set(house.store.sessions().flatMap(({ seatId }) => [seatId, house.store.seat(seatId)?.parentSeatId ?? seatId]))
  return [...ids].flatMap((id) => house.store.seat(id)?.name ?? [])
}
