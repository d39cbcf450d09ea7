import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { waitersFolder } from '../../agents/claude-code/waiter.js'
import type { Message } from '../../contract/message.js'
import { bring, sitting } from '../../engine/bring-messages.js'
import type { House } from '../../house.js'

/**
 * Texts too long for a client that this session was given lie in files of their own, and what was laid for its next hook or waiter in others.
 * What still waits for its seat is not the session's, and stays.
 */
export function forgetMessages(house: House, sessionId: string): void {
  const { store, home } = house
  const gone = readWith(house, sessionId)
  for (const { text_file } of gone) if (text_file) rmSync(text_file, { force: true })
  store.transaction(() => {
    for (const message of gone) store.putMessage({ ...message, agent_text: null, text_file: null })
  })
  forgetLaid(home, sessionId)
}

/** What lies for a session's next hook was written before words were taken out of it: while it sits in its seat it is laid anew, else it goes. */
export function layAnew({ store, home, engine: { parts } }: House, sessionId: string): void {
  const seatId = store.session(sessionId)?.seatId
  if (seatId !== undefined && sitting(parts, seatId)?.sessionId === sessionId) bring(parts, seatId)
  else forgetLaid(home, sessionId)
}

function forgetLaid(home: House['home'], sessionId: string): void {
  for (const folder of [home.outbox, waitersFolder(home.live)])
    for (const name of namesIn(folder)) if (isOf(name, sessionId)) rmSync(join(folder, name), { recursive: true, force: true })
}

/** Messages with files of their own that this session was given. */
export function readWith({ store }: Pick<House, 'store'>, sessionId: string): Message[] {
  const seatId = store.session(sessionId)?.seatId
  if (seatId === undefined) return []
  return store
    .messages({ seatId, limit: 1_000_000 })
    .filter((m) => m.text_file && (m.sent_to ?? m.session_id) === sessionId && m.status !== 'queued')
}

/** `<session>`, `<session>.near`, `<session>.taken.7`, `.<session>.7`, `<session>.<order>.say` */
const isOf = (name: string, sessionId: string): boolean => name.replace(/^\./, '').split('.', 1)[0] === sessionId

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
