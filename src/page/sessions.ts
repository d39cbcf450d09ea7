import { handoffUnderWay } from '../briefs-of.js'
import { dropHandoff, requestBrief } from '../engine/handoff-calls.js'
import { takeMessageBack } from '../engine/send-message.js'
import { setEnabled } from '../engine/switches.js'
import { viewHandoff } from '../engine/view-brief.js'
import { viewMessage } from '../engine/view-message.js'
import type { House } from '../house.js'
import { reasonOf } from '../lib/errors.js'
import { typeMessages } from '../message-typist.js'
import { sendText } from '../send-text.js'
import type { SessionRooms } from '../server/rooms.js'

/** Whoever has the token is the person. */
const PERSON = null

export function sessionPage(house: House): SessionRooms {
  const { parts } = house.engine
  // It waits for a quiet terminal; whoever asked need not.
  const typeSoon = (seatId: string): void => {
    typeMessages(house, seatId).catch((error: unknown) =>
      house.log('warn', 'a message could not be typed', { seat: seatId, reason: reasonOf(error) }),
    )
  }
  return {
    send({ seatId }, text, mode) {
      const sent = sendText(house, { seatId, sender: 'user', mode, text })
      if (sent.status === 'queued') typeSoon(seatId)
      return viewMessage(sent)
    },
    unsend: (id) => viewMessage(takeMessageBack(parts, id)),
    handOff({ sessionId }, reason) {
      const handoff = requestBrief(parts, { sessionId, caller: PERSON, reason })
      typeSoon(handoff.seatId)
      return viewHandoff(handoff)
    },
    cancelHandoff({ seatId, sessionId }) {
      const { handoffId } = handoffUnderWay(house, seatId, sessionId)
      return viewHandoff(dropHandoff(parts, { handoffId, caller: PERSON }))
    },
    switchSession: ({ sessionId }, enabled) => setEnabled(parts, 'session', sessionId, enabled, house.now().toISOString()),
  }
}
