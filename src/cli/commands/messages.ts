import { callingSender, messageIdNamed, refuseUnlessRunning, sendText, typeMessages } from '../../app/messages.js'
import { withOpenApp } from '../../app/open-app.js'
import { seatByName, seatName } from '../../app/sessions.js'
import type { DeliveryMode } from '../../contract/level.js'
import type { Message } from '../../contract/records/message.js'
import { cancelNamedMessage } from '../../engine/messages/send-message.js'
import type { App } from '../../engine/open-engine.js'
import { senderText, waitReasons } from '../../engine/views/message-view.js'
import { EXIT } from '../../lib/errors.js'
import { replaceControls } from '../../lib/replace-controls.js'
import { type Call, type Cli, type Command, SEAT_HELP } from '../command.js'
import { checkActionForm, usageError } from '../parse-call.js'
import { DELIVERY_MODES } from '../render/event-line.js'
import { type Column, table } from '../render/table.js'
import { ageText, cutToWidth, localTimestamp, wrap } from '../render/text.js'
import { readInput } from '../terminal.js'

const MODES = ['sequential', 'important', 'urgent'] as const
const LARGEST_TEXT = 1024 * 1024
const LONGEST_NAME = 64
const FIRST_BYTE_MS = 30_000
const WHOLE_MS = 60_000

export const sendCommand: Command = {
  name: 'send',
  summary: 'send a message to an agent',
  usage: ['<seat|session> <text>', '<seat|session> -'],
  about:
    `${SEAT_HELP} The message goes to the session that is in the seat when it is delivered.\n` +
    '--mode sets when the agent reads it: after the turn (sequential), at the next step between two tool calls ' +
    '(important), ' +
    'or now, as soon as no work is lost (urgent).',
  options: {
    mode: { type: 'string', value: 'MODE', oneOf: MODES, about: 'when the agent reads it; the default is sequential' },
    from: { type: 'string', value: 'NAME', about: 'name of the sender (default: the seat of the command, else user)' },
    now: { type: 'boolean', about: 'fail unless a client runs in the seat' },
  },
  words: { min: 2, max: 2 },
  examples: [
    ['baton send api "The staging database is back."', 'deliver after the turn'],
    ['baton send api "Stop: main is broken." --mode urgent', 'deliver now'],
    ['git diff | baton send reviewer - --mode important', 'read the text from standard input'],
  ],
  json: '{message_id, status, seat_id, mode, sender}',
  run: runSend,
}

async function runSend(call: Call, cli: Cli): Promise<number> {
  const [to, word] = call.words as [string, string]
  const text = word === '-' ? await readInput(process.stdin, FIRST_BYTE_MS, WHOLE_MS) : word
  if (text.trim() === '')
    throw usageError(sendCommand, 'The text is empty.', 'Give the message: baton send <seat|session> <text>.')
  if (Buffer.byteLength(text) > LARGEST_TEXT)
    throw usageError(sendCommand, 'The text is longer than 1 MB.', 'Write it to a file and send the path of the file.')
  const named = call.value('from')
  if (named !== null) checkName(named)
  return withOpenApp(cli, async (app) => {
    const seatId = seatByName(app, to)
    if (call.flag('now')) refuseUnlessRunning(app, seatId, to)
    const sender = named ?? callingSender(app, cli.env)
    const mode = (call.value('mode') ?? 'sequential') as DeliveryMode
    const sent = sendText(app, { seatId, sender, mode, text })
    const { message_id } = sent
    const typed = sent.status === 'queued' && (await typeMessages(app, seatId))
    const status = typed ? (app.store.message(message_id)?.status ?? sent.status) : sent.status
    if (call.json) cli.print(JSON.stringify({ message_id, status, seat_id: seatId, mode, sender }))
    else cli.print(wrap(sentence(app, message_id), cli.screen.columns, 2).join('\n'))
    return EXIT.done
  })
}

function sentence(app: App, id: string): string {
  const message = app.store.message(id)
  if (message === null || message.status !== 'queued') return `Sent ${id} to the session.`
  const reason = waitReasons(app.engine.deps, [message]).get(id)
  return `Queued ${id}: ${reason}. To cancel it: baton messages cancel ${id}.`
}

function checkName(name: string): void {
  if (name !== replaceControls(name) || /[\r\n]/.test(name) || name.trim() === '' || name.length > LONGEST_NAME)
    throw usageError(
      sendCommand,
      `--from cannot be "${cutToWidth(replaceControls(name), LONGEST_NAME)}".`,
      `Give one line of at most ${LONGEST_NAME} characters.`,
    )
  if (/^baton$/i.test(name))
    throw usageError(sendCommand, '--from cannot be "baton", the name of Baton itself.', 'Give another name.')
}

/** Help, number of arguments and options of each action. */
const FORMS = {
  cancel: {
    summary: 'cancel a message that was not sent yet',
    about: 'The beginning of the id of a message is enough.',
    least: 1,
    most: 1,
    options: [],
  },
}

export const messagesCommand: Command = {
  name: 'messages',
  summary: 'list messages to agents, and cancel waiting ones',
  usage: ['[--seat S] [--all]', 'cancel <id>'],
  about:
    'STATUS is queued (waits until the client can accept it), sent (given to the client) or ' +
    'delivered (confirmed by the next event of the client).\n' +
    SEAT_HELP,
  options: {
    seat: { type: 'string', value: 'S', about: 'only this seat (its name, its id or one of its sessions)' },
    all: { type: 'boolean', about: 'list all messages, not only the newest thousand' },
  },
  actions: ['cancel'],
  forms: FORMS,
  words: { min: 0, max: 2 },
  examples: [
    ['baton messages', 'list the newest thousand messages'],
    ['baton messages --seat api', 'list the messages to a seat'],
    ['baton messages cancel 3f0c', 'cancel a message by the beginning of its id'],
  ],
  json:
    '{messages: [{message_id, seat_id, sender, mode, category, status, reason, queued_at, delivered_at, …}]}, ' +
    'with the reason why a queued one waits; cancel: {message_id, status}',
  run: runMessages,
}

const NEWEST = 1_000
/**
 * Maximum width of a text without a terminal. Otherwise every line would be as long as the longest.
 */
const LONGEST_SHOWN = 160

async function runMessages(call: Call, cli: Cli): Promise<number> {
  const [action, id] = call.words
  if (action !== undefined) {
    checkActionForm(messagesCommand, call, action, FORMS.cancel)
    return cancel(id!, call, cli)
  }
  return withOpenApp(cli, (app) => {
    const seat = call.value('seat')
    const limit = call.flag('all') ? Number.MAX_SAFE_INTEGER : NEWEST
    const messages = app.store.messages({ limit, ...(seat === null ? {} : { seatId: seatByName(app, seat) }) })
    const reasons = waitReasons(app.engine.deps, messages)
    const reasonOf = ({ message_id: id }: Message): string | null => reasons.get(id) ?? null
    if (call.json) cli.print(JSON.stringify({ messages: messages.map((m) => ({ ...m, reason: reasonOf(m) })) }))
    else if (messages.length === 0)
      cli.print(
        wrap(
          'No messages. Baton sends one when a session reaches a level or is compacted. baton send sends your own.',
          cli.screen.columns,
          0,
        ).join('\n'),
      )
    else cli.print(lines(messages, reasonOf, app, cli).join('\n'))
    return EXIT.done
  })
}

function cancel(id: string, call: Call, cli: Cli): Promise<number> {
  return withOpenApp(cli, (app) => {
    const message = cancelNamedMessage(app.engine.deps, messageIdNamed(app, id))
    if (call.json) cli.print(JSON.stringify({ message_id: message.message_id, status: message.status }))
    else cli.print(`Cancelled ${message.message_id}.`)
    return EXIT.done
  })
}

/** Renders the rows of the table. If there is no room for a reason, it gets its own line. */
function lines(
  messages: readonly Message[],
  reasonOf: (message: Message) => string | null,
  app: App,
  cli: Cli,
): string[] {
  const { columns: width, paint } = cli.screen
  const isAnyWaiting = messages.some((message) => reasonOf(message) !== null)
  const [head = '', ...rows] = table(messages, columns(app, cli, reasonOf, isAnyWaiting), width, paint)
  if (head.includes(REASON_TITLE)) return [head, ...rows]
  return [
    head,
    ...rows.flatMap((row, index) => {
      const reason = reasonOf(messages[index]!)
      return reason === null
        ? [row]
        : [row, ...wrap(`    waits: ${reason}`, width, 6).map((line) => paint(line, 'dim'))]
    }),
  ]
}

const REASON_TITLE = 'REASON TO WAIT'

/**
 * Returns the columns of the table. A terminal shows ages, because it has little room for times.
 * The id is never dropped, because `messages cancel` needs it.
 */
function columns(
  app: App,
  cli: Cli,
  reasonOf: (message: Message) => string | null,
  isAnyWaiting: boolean,
): Column<Message>[] {
  const reason: Column<Message> = { title: REASON_TITLE, dropAt: 5, cell: (m) => reasonOf(m) ?? '–' }
  const queued: Column<Message> = cli.screen.terminal
    ? { title: 'AGE', dropAt: 3, align: 'right', cell: (m) => ageText(m.queued_at, cli.now()) }
    : { title: 'QUEUED', dropAt: 3, cell: (m) => localTimestamp(m.queued_at) }
  return [
    queued,
    {
      title: 'SEAT',
      dropAt: 2,
      shrinkTo: 9,
      cell: (m) => replaceControls(seatName(app, m.seat_id)),
    },
    { title: 'ABOUT', dropAt: 9, cell: (m) => m.session_id?.slice(0, 8) ?? '–' },
    { title: 'FROM', dropAt: 8, shrinkTo: 8, cell: (m) => replaceControls(m.sender) },
    { title: 'CATEGORY', dropAt: 7, cell: (m) => replaceControls(m.category) },
    { title: 'WHEN', dropAt: 6, cell: (m) => DELIVERY_MODES[m.mode] },
    { title: 'STATUS', dropAt: 0, cell: (m) => `${m.status}${m.repeated ? ' (repeated)' : ''}` },
    ...(isAnyWaiting ? [reason] : []),
    {
      title: 'TEXT',
      dropAt: 1,
      shrinkTo: 20,
      cell: (m) => cutToWidth(replaceControls(senderText(m)), LONGEST_SHOWN),
    },
    { title: 'ID', dropAt: 0, cell: (m) => m.message_id },
  ]
}
