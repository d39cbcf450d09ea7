import { setTimeout as pause } from 'node:timers/promises'
import { pastePrompt, whyNotNow } from './delivery/channels/tmux.js'
import { beginTypingMessages, typable as idleUntold, typedNothing } from './engine/type-message.js'
import type { House } from './house.js'
import { QUIET_MS, type TypedClient, terminalOf } from './terminals.js'

/**
 * Types what waits for an idle session into its terminal, where nothing better reaches it: in tmux, with an empty composer, and never into
 * a dialog. The client's own event confirms it. False: nothing was typed, and it waits for the session's next event.
 */
export async function typeMessages(house: House, seatId: string): Promise<boolean> {
  const { parts } = house.engine
  const record = idleUntold(parts, seatId)
  const terminal = record?.process && record.terminal ? terminalOf(record.agent, { ...record.terminal, ...record.process }) : null
  if (record === null || terminal === null) return false
  const wish = { sessionId: record.sessionId }
  for (const wait of [0, QUIET_MS]) {
    await pause(wait)
    if ((await whyNotNow(terminal, '[baton]', wish)) !== null) return false
  }
  const prompt = beginTypingMessages(parts, seatId)
  if (prompt === null) return false
  const typed = await pastePrompt(terminal, prompt.text, wish)
  if (typed.sent) return true
  house.log('info', 'a message was not typed', { seat: seatId, reason: `${typed.why}: ${typed.detail}`, left: typed.left })
  if (typed.left === 'nothing') typedNothing(parts, prompt)
  return false
}

/** Refusals that pass: the client can be typed into at another moment. */
const PASSING = ['busy', 'waiting', 'draft']

/** Whether the terminal of a client could be typed into, now or later. Types nothing. */
export async function typable(client: TypedClient & { sessionId: string }): Promise<boolean> {
  const terminal = terminalOf('claude-code', client)
  const refused = terminal && (await whyNotNow(terminal, '[baton]', client))
  return terminal !== null && (refused === null || PASSING.includes(refused.why))
}
