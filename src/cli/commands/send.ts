import { randomUUID } from 'node:crypto'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Mode } from '../../contract/level.js'
import { sitting } from '../../engine/bring-messages.js'
import { LONGEST_TEXT, sendMessage } from '../../engine/send-message.js'
import type { House } from '../../house.js'
import { writeFileAtomic } from '../../lib/atomic-file.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import { makePrivateFolder } from '../../lib/private-folder.js'
import { typeMessages } from '../../message-typist.js'
import type { Call, Cli, Command } from '../command.js'
import { inHouse } from '../open-house.js'
import { wrong } from '../parse-call.js'
import { readInput } from '../read-input.js'
import { cut, harmless } from '../render/width.js'
import { seatNamed } from '../seat-named.js'

const MODES = ['sequential', 'important', 'urgent'] as const
const LARGEST_TEXT = 1024 * 1024
const LONGEST_NAME = 64
const FIRST_BYTE_MS = 30_000
const WHOLE_MS = 60_000

export const command: Command = {
  name: 'send',
  summary: 'say something to the agent that sits in a seat',
  usage: ['<seat|session> <text>', '<seat|session> -'],
  about:
    'Whoever sits in the seat reads it, also after a clear, a handoff or a restart. sequential: at the end of the turn. important: at the next tool boundary. urgent: as soon as the client can take it without losing work.',
  options: {
    mode: { type: 'string', value: 'MODE', oneOf: MODES, about: 'sequential (as without it), important or urgent' },
    from: { type: 'string', value: 'NAME', about: 'who says it (as without it: the seat this runs in, else user)' },
    now: { type: 'boolean', about: 'only if the session is known to be running' },
  },
  words: { min: 2, max: 2 },
  examples: [
    ['baton send api "The staging database is back."', 'read at the end of the turn'],
    ['baton send api "Stop: main is broken." --mode urgent', 'read as soon as possible'],
    ['git diff | baton send reviewer - --mode important', 'from standard input'],
  ],
  json: '{message_id, status, seat_id, mode, sender}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const [to, word] = call.words as [string, string]
  const text = word === '-' ? await readInput(process.stdin, FIRST_BYTE_MS, WHOLE_MS) : word
  if (text.trim() === '') throw wrong(command, 'There is nothing to say: the text is empty.')
  if (Buffer.byteLength(text) > LARGEST_TEXT)
    throw wrong(command, 'The text is longer than 1 MB.', 'Write it to a file and send its path.')
  const named = call.value('from')
  if (named !== null) checkName(named)
  return inHouse(cli, async (house) => {
    const seatId = seatNamed(house, to)
    if (call.flag('now')) checkRunning(house, seatId, to)
    const sender = named ?? callerOf(house, cli)
    const mode = (call.value('mode') ?? 'sequential') as Mode
    const file = text.length > LONGEST_TEXT ? { path: keepText(house, text), characters: text.length } : null
    const said = file === null ? text : text.slice(0, LONGEST_TEXT / 10).trimEnd()
    const sent = keeping(file?.path ?? null, () => sendMessage(house.engine.parts, { seatId, sender, mode, text: said, file }))
    const { message_id } = sent
    const typed = sent.status === 'queued' && (await typeMessages(house, seatId))
    const status = typed ? (house.store.message(message_id)?.status ?? sent.status) : sent.status
    if (call.json) cli.print(JSON.stringify({ message_id, status, seat_id: seatId, mode, sender }))
    else cli.print(`${message_id} ${status === 'queued' ? 'waits for the session' : 'is given to the session now'}.`)
    return EXIT.done
  })
}

/** The file goes again if what speaks of it was not kept. */
function keeping<T>(path: string | null, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (path !== null) rmSync(path, { force: true })
    throw error
  }
}

function checkName(name: string): void {
  if (name !== harmless(name) || /[\r\n]/.test(name) || name.trim() === '' || name.length > LONGEST_NAME)
    throw wrong(
      command,
      `--from cannot be "${cut(harmless(name), LONGEST_NAME)}".`,
      `Give one line of at most ${LONGEST_NAME} characters.`,
    )
  if (/^baton$/i.test(name)) throw wrong(command, '--from cannot be "baton": that is Baton itself.')
}

function checkRunning(house: House, seatId: string, name: string): void {
  const record = sitting(house.engine.parts, seatId)
  const agent = house.engine.parts.agents[record?.agent ?? '']
  if (record?.process && agent?.alive(record.process)) return
  throw new BatonError(
    `Nobody is known to sit in "${harmless(name)}".`,
    'Without --now the message waits until somebody does. baton status --live lists who is there.',
    EXIT.refused,
  )
}

/** The seat of the session this command is run by; else it is a person. */
function callerOf(house: House, cli: Cli): string {
  const session = cli.env.CLAUDE_CODE_SESSION_ID
  const record = session ? house.store.session(session) : null
  if (record === null) return 'user'
  return house.store.seat(record.seatId)?.name ?? record.seatId
}

function keepText(house: House, text: string): string {
  const folder = house.home.messages
  makePrivateFolder(folder)
  const path = join(folder, `${randomUUID()}.txt`)
  writeFileAtomic(path, text, { mode: 0o600 })
  return path
}
