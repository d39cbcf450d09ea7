import { viewMessage } from '../../engine/view-message.js'
import type { Handlers } from '../mount.js'
import type { ServerParts } from '../parts.js'
import { namedSession } from './named-session.js'

const USUAL = 200

/** What is said to the agent of a session: by people, and by Baton when it asks for a brief. */
export function messages(parts: ServerParts): Handlers<'messages' | 'send' | 'unsend' | 'handOff' | 'cancelHandoff'> {
  const { store, rooms } = parts
  return {
    messages({ id, query }) {
      const { seatId } = namedSession(parts, id)
      return { messages: store.messages({ seatId, limit: query.limit ?? USUAL }).map(viewMessage) }
    },
    send: ({ id, body }) => rooms.send(namedSession(parts, id), body.text, body.mode),
    unsend: ({ id }) => rooms.unsend(id),
    handOff: ({ id, body }) => rooms.handOff(namedSession(parts, id), body.reason),
    cancelHandoff: ({ id }) => rooms.cancelHandoff(namedSession(parts, id)),
  }
}
