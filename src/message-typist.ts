import { setTimeout as pause } from 'node:timers/promises'
import { findPasted, readComposer } from './agents/claude-code/composer.js'
import { liveClient } from './agents/claude-code/registry.js'
import { configDirOf } from './agents/claude-code/settings.js'
import { pastePrompt, type Terminal, whyNotNow } from './delivery/channels/tmux.js'
import { beginTypingMessages, typable as idleUntold, typedNothing } from './engine/type-message.js'
import type { House } from './house.js'

type Env = Record<string, string | undefined>

/** How the screen and the state of each agent's client are read. */
const TERMINALS: Record<string, (pid: number, env: Env) => Terminal | null> = {
  'claude-code': (pid, env) => {
    const configDir = configDirOf(env as Record<string, string>)
    return configDir === null ? null : { live: () => liveClient(configDir, pid), composer: readComposer, findPasted }
  },
}

/** For a moment after the user pressed Enter the composer is empty and the client still calls itself idle. */
const QUIET_MS = 300

/**
 * Types what waits for an idle session into its terminal, where nothing better reaches it: in tmux, with an empty composer, and never into
 * a dialog. The client's own event confirms it. False: nothing was typed, and it waits for the session's next event.
 */
export async function typeMessages(house: House, seatId: string, env: Env): Promise<boolean> {
  const { parts } = house.engine
  const record = idleUntold(parts, seatId)
  const terminal = record?.process ? (TERMINALS[record.agent]?.(record.process.pid, env) ?? null) : null
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
export async function typable(pid: number, sessionId: string, env: Env): Promise<boolean> {
  const terminal = TERMINALS['claude-code']!(pid, env)
  const refused = terminal === null ? null : await whyNotNow(terminal, '[baton]', { sessionId })
  return terminal !== null && (refused === null || PASSING.includes(refused.why))
}
