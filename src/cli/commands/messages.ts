import type { Message } from '../../contract/message.js'
import { cancelMessage } from '../../engine/send-message.js'
import type { House } from '../../house.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import { nearestName } from '../../lib/nearest-name.js'
import type { Call, Cli, Command } from '../command.js'
import { inHouse } from '../open-house.js'
import { wrong } from '../parse-call.js'
import { type Column, table } from '../render/table.js'
import { age, stamp } from '../render/times.js'
import { cut, harmless } from '../render/width.js'
import { seatNamed } from '../seat-named.js'

export const command: Command = {
  name: 'messages',
  summary: 'list what was said to seats, or still has to be',
  usage: ['[--seat S] [--all]', 'cancel <id>'],
  about: 'queued: waits for an answer that can carry it. sent: given to the client. delivered: its next event confirmed it.',
  options: {
    seat: { type: 'string', value: 'S', about: 'only those of this seat (its id, its name, or one of its sessions)' },
    all: { type: 'boolean', about: 'more than the newest thousand' },
  },
  words: { min: 0, max: 2 },
  examples: [
    ['baton messages', 'the newest thousand'],
    ['baton messages --seat api', 'those of one seat'],
    ['baton messages cancel msg_3f0c9a52d1b7e846', 'take one back that was not given yet'],
  ],
  json: '{messages: [{message_id, seat_id, sender, mode, category, status, queued_at, delivered_at, …}]}, cancel: {message_id, status}',
  run,
}

const NEWEST = 1_000
/** Where no terminal sets a bound every line would be as long as the longest text. */
const LONGEST_SHOWN = 160

async function run(call: Call, cli: Cli): Promise<number> {
  const [action, id] = call.words
  if (action !== undefined) return cancel(action, id, call, cli)
  return inHouse(cli, (house) => {
    const seat = call.value('seat')
    const limit = call.flag('all') ? Number.MAX_SAFE_INTEGER : NEWEST
    const messages = house.store.messages({ limit, ...(seat === null ? {} : { seatId: seatNamed(house, seat) }) })
    if (call.json) cli.print(JSON.stringify({ messages }))
    else if (messages.length === 0)
      cli.print('No messages. Baton writes one when a session crosses a level or is compacted; baton send writes yours.')
    else cli.print(table(messages, columns(house, cli), cli.screen.columns, cli.screen.paint).join('\n'))
    return EXIT.done
  })
}

function cancel(action: string, id: string | undefined, call: Call, cli: Cli): Promise<number> {
  if (action !== 'cancel') {
    const near = nearestName(action, ['cancel']) === null ? undefined : 'Did you mean cancel?'
    throw wrong(command, `baton messages knows no "${harmless(action)}".`, near)
  }
  if (id === undefined) throw wrong(command, 'baton messages cancel needs the id of a message.')
  return inHouse(cli, (house) => {
    const message = cancelMessage(house.engine.parts, id)
    if (message === null)
      throw new BatonError(`There is no message "${harmless(id)}".`, 'baton messages --all --json lists them.', EXIT.notFound)
    if (message.status !== 'cancelled')
      throw new BatonError(
        message.status === 'queued' ? `${id} is just being given.` : `${id} was given already: it is ${message.status}.`,
        'What an agent has read cannot be taken back; send it another message.',
        EXIT.refused,
      )
    if (call.json) cli.print(JSON.stringify({ message_id: id, status: message.status }))
    else cli.print(`${id} is cancelled.`)
    return EXIT.done
  })
}

/** A terminal has little room for times: there the age stands for them. */
function columns(house: House, cli: Cli): Column<Message>[] {
  const queued: Column<Message> = cli.screen.terminal
    ? { title: 'AGE', dropAt: 3, align: 'right', cell: (m) => age(m.queued_at, cli.now()) }
    : { title: 'QUEUED', dropAt: 3, cell: (m) => stamp(m.queued_at) }
  return [
    queued,
    { title: 'SEAT', dropAt: 2, shrinkTo: 9, cell: (m) => harmless(house.store.seat(m.seat_id)?.name ?? m.seat_id.slice(0, 9)) },
    { title: 'ABOUT', dropAt: 4, cell: (m) => m.session_id?.slice(0, 8) ?? '–' },
    { title: 'FROM', dropAt: 4, shrinkTo: 8, cell: (m) => harmless(m.sender) },
    { title: 'CATEGORY', dropAt: 0, cell: (m) => harmless(m.category) },
    { title: 'MODE', dropAt: 6, cell: (m) => m.mode },
    { title: 'STATUS', dropAt: 0, cell: (m) => `${m.status}${m.repeated ? ' (repeated)' : ''}` },
    {
      title: 'TEXT',
      dropAt: 5,
      shrinkTo: 20,
      cell: (m) => cut(harmless(wordsOf(m)), LONGEST_SHOWN),
    },
    { title: 'ID', dropAt: 7, cell: (m) => m.message_id },
  ]
}

function wordsOf(message: Message): string {
  const text = (message.user_text ?? message.agent_text ?? '').replace(/^\[baton\] /, '')
  const from = `Message from ${message.sender}: `
  return text.startsWith(from) ? text.slice(from.length) : text
}
