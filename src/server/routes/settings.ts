import type { Handlers } from '../mount.js'
import type { ServerParts } from '../parts.js'
import { namedSession } from './named-session.js'

/** What is in force, what was spent, and whether all of it works. */
export function settings(parts: ServerParts): Handlers<'config' | 'doctor' | 'history'> {
  const { rooms } = parts
  return {
    config: ({ query }) => rooms.settings(query.session === undefined ? null : namedSession(parts, query.session)),
    // It runs programs: only who has the token has it run again before its time.
    doctor: ({ query, words }) => rooms.doctor(words && query.fresh !== undefined),
    history: ({ query }) => rooms.history(query),
  }
}
