import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { TerminalClient } from '../agents/agent.js'
import { callingSession } from '../agents/clients.js'
import type { MessageView } from '../contract/api/messages.js'
import type { DeliveryMode } from '../contract/level.js'
import type { Message } from '../contract/records/message.js'
import type { SessionRecord } from '../contract/records/session.js'
import { pastePrompt, whyCannotTypeNow } from '../delivery/channels/tmux.js'
import {
  beginTypingMessages,
  sessionToTypeInto as idleUntold,
  requeueUntypedMessages,
  workingSession,
} from '../engine/messages/deliver-to-seat.js'
import { cancelNamedMessage, MAX_MESSAGE_CHARACTERS, sendMessage } from '../engine/messages/send-message.js'
import type { App } from '../engine/open-engine.js'
import { viewMessage, viewMessages } from '../engine/views/message-view.js'
import { writeFileAtomic } from '../lib/atomic-file.js'
import { BatonError, EXIT, reasonOf } from '../lib/errors.js'
import { makePrivateFolder } from '../lib/private-folder.js'
import { replaceControls } from '../lib/replace-controls.js'
import { QUIET_KEYBOARD_MS, terminalOf } from './client-terminals.js'
import { seatByName } from './sessions.js'

export interface MessageUseCases {
  /** Lists messages to the named seat (terminal or job), or to all seats if null, oldest first. */
  allMessages(seat: string | null, limit: number): MessageView[]
  /** Lists the newest `limit` messages to the seat of a session, oldest of them first. */
  sessionMessages(of: SessionRecord, limit: number): MessageView[]
  /** Sends a message to the seat of a session, as the user. */
  send(to: SessionRecord, text: string, mode: DeliveryMode): MessageView
  unsend(messageId: string): MessageView
}

export function messageUseCases(app: App): MessageUseCases {
  const { deps } = app.engine
  return {
    allMessages: (seat, limit) =>
      viewMessages(deps, app.store.messages({ limit, ...(seat === null ? {} : { seatId: seatByName(app, seat) }) })),
    sessionMessages: ({ seatId }, limit) => viewMessages(deps, app.store.messages({ seatId, limit })),
    send({ seatId }, text, mode) {
      const sent = sendText(app, { seatId, sender: 'user', mode, text })
      if (sent.status === 'queued') typeMessagesInBackground(app, seatId)
      return viewMessage(deps, sent)
    },
    unsend: (id) => viewMessage(deps, cancelNamedMessage(deps, id)),
  }
}

/**
 * Types waiting messages of a seat (terminal or job) into its terminal.
 * Runs in the background, because typing waits until the user's keyboard is quiet.
 */
export function typeMessagesInBackground(app: App, seatId: string): void {
  typeMessages(app, seatId).catch((error: unknown) =>
    app.log('warn', 'a message could not be typed', { seat: seatId, reason: reasonOf(error) }),
  )
}

/**
 * Sends a message to a seat (terminal or job).
 * A text too long for a client is stored in a file, and the message names the file.
 * The text's file is deleted if the message cannot be stored.
 */
export function sendText(
  app: App,
  said: { seatId: string; sender: string; mode: DeliveryMode; text: string },
): Message {
  const { text } = said
  const { deps } = app.engine
  if (text.length <= MAX_MESSAGE_CHARACTERS) return sendMessage(deps, { ...said, file: null })
  const path = keepText(app, text)
  try {
    const beginning = text.slice(0, MAX_MESSAGE_CHARACTERS / 10).trimEnd()
    return sendMessage(deps, { ...said, text: beginning, file: { path, characters: text.length } })
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  }
}

function keepText({ home }: App, text: string): string {
  makePrivateFolder(home.messages)
  const path = join(home.messages, `${randomUUID()}.txt`)
  writeFileAtomic(path, text, { mode: 0o600 })
  return path
}

/**
 * Types waiting messages into the terminal of an idle session that is reached in no other way.
 * Types only in tmux, only into an empty input line, and never into a dialog.
 * The client's own event confirms the delivery.
 * False when nothing was typed, so the messages wait for the session's next event.
 */
export async function typeMessages(app: App, seatId: string): Promise<boolean> {
  const { deps } = app.engine
  const record = idleUntold(deps, seatId)
  const terminal =
    record?.process && record.terminal ? terminalOf(record.agent, { ...record.terminal, ...record.process }) : null
  if (record === null || terminal === null) return false
  const target = { sessionId: record.sessionId }
  for (const wait of [0, QUIET_KEYBOARD_MS]) {
    await pause(wait)
    if ((await whyCannotTypeNow(terminal, '[baton]', target)) !== null) return false
  }
  const prompt = beginTypingMessages(deps, seatId)
  if (prompt === null) return false
  const typed = await pastePrompt(terminal, prompt.text, target)
  if (typed.sent) return true
  app.log('info', 'a message was not typed', {
    seat: seatId,
    reason: `${typed.why}: ${typed.detail}`,
    left: typed.left,
  })
  if (typed.left === 'nothing') requeueUntypedMessages(deps, prompt)
  return false
}

/** Temporary refusals: the client can be typed into at another time. */
const PASSING = ['busy', 'waiting', 'draft']

/** Returns whether Baton can type into the terminal of a client, now or later. Types nothing. */
export async function canTypeInto(agent: string, client: TerminalClient & { sessionId: string }): Promise<boolean> {
  const terminal = terminalOf(agent, client)
  const refused = terminal && (await whyCannotTypeNow(terminal, '[baton]', client))
  return terminal !== null && (refused === null || PASSING.includes(refused.why))
}

/** Throws unless a client runs in the seat. `name` is the seat's name as the caller wrote it. */
export function refuseUnlessRunning(app: App, seatId: string, name: string): void {
  const record = workingSession(app.engine.deps, seatId)
  const agent = app.engine.deps.agents[record?.agent ?? '']
  if (record?.process && agent?.alive(record.process)) return
  throw new BatonError(
    `No client is known to run in seat "${replaceControls(name)}".`,
    'Without --now the message waits until one does. baton status --live lists the running sessions.',
    EXIT.refused,
  )
}

/** Returns the name of the seat whose session runs this command, or `user`. */
export function callingSender(app: App, env: Record<string, string | undefined>): string {
  const session = callingSession(env)
  const record = session ? app.store.session(session) : null
  if (record === null) return 'user'
  return app.store.seat(record.seatId)?.name ?? record.seatId
}

/** Returns the message id that begins with `written`. Returns `written` when no id does. */
export function messageIdNamed({ store }: App, written: string): string {
  if (store.message(written) !== null) return written
  const beginning = written.startsWith('msg_') ? written : `msg_${written}`
  const found = store.messages({ limit: Number.MAX_SAFE_INTEGER }).filter((m) => m.message_id.startsWith(beginning))
  if (beginning === 'msg_' || found.length === 0) return written
  const open = found.filter(({ status }) => status === 'queued' || status === 'sent')
  const [one, ...others] = open.length > 0 ? open : found
  if (others.length === 0) return one!.message_id
  throw new BatonError(
    `${others.length + 1} messages begin with "${replaceControls(written)}".`,
    'Give more characters of the id. baton messages lists the ids.',
    EXIT.usage,
  )
}
