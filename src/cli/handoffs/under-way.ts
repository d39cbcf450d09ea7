import type { Session } from '../../contract/session.js'
import { hindranceOf } from '../../engine/overlooked.js'
import { viewHandoff } from '../../engine/view-brief.js'
import type { House } from '../../house.js'
import { handoffText } from '../render/brief-lines.js'
import { seatName } from './list.js'

/** A line for each handoff of these sessions' seats that is not over. */
export function handoffsUnderWay(house: House, sessions: readonly Session[], now: Date): string[] {
  const seats = new Set(sessions.map(({ seat_id }) => seat_id))
  return house.store
    .openHandoffs()
    .filter(({ seatId }) => seats.has(seatId))
    .map((handoff) => {
      const view = viewHandoff(handoff, hindranceOf(house.engine.parts, handoff))
      return `Handoff of ${seatName(house, handoff.seatId)}: ${handoffText(view, now)}.`
    })
}
