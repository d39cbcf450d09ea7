import type { Message } from '../../contract/message.js'
import type { House } from '../../house.js'
import { EXIT } from '../../lib/errors.js'
import type { Call, Cli, Command } from '../command.js'
import { inHouse, sessionNamed } from '../open-house.js'
import { type Column, table } from '../render/table.js'
import { age, stamp } from '../render/times.js'
import { harmless } from '../render/width.js'

export const command: Command = {
  name: 'messages',
  summary: 'list what Baton told seats, or still has to tell them',
  usage: ['[--seat S]'],
  about: 'queued: waits for an answer that can carry it. sent: given to the client. delivered: its next event confirmed it.',
  options: { seat: { type: 'string', value: 'S', about: 'only those of this seat (its id, its name, or one of its sessions)' } },
  words: { min: 0, max: 0 },
  examples: [
    ['baton messages', 'the newest thousand'],
    ['baton messages --seat api', 'those of one seat'],
  ],
  json: '{messages: [{message_id, seat_id, mode, category, status, queued_at, delivered_at, …}]}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  return inHouse(cli, (house) => {
    const seat = call.value('seat')
    const messages = house.store.messages(seat === null ? {} : { seatId: seatNamed(house, seat) })
    if (call.json) cli.print(JSON.stringify({ messages }))
    else if (messages.length === 0) cli.print('No messages. Baton writes one when a session crosses a level or is compacted.')
    else cli.print(table(messages, columns(house, cli), cli.screen.columns, cli.screen.paint).join('\n'))
    return EXIT.done
  })
}

/** A seat may have no session yet: somebody named it as a parent. */
function seatNamed(house: House, name: string): string {
  const seat = house.store.seat(name) ?? house.store.seatNamed(name)
  return seat?.seatId ?? sessionNamed(house, name).seatId
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
    { title: 'CATEGORY', dropAt: 0, cell: (m) => harmless(m.category) },
    { title: 'MODE', dropAt: 6, cell: (m) => m.mode },
    { title: 'STATUS', dropAt: 0, cell: (m) => `${m.status}${m.repeated ? ' (repeated)' : ''}` },
    {
      title: 'TEXT',
      dropAt: 5,
      shrinkTo: 20,
      cell: (m) => harmless((m.user_text ?? m.agent_text ?? '').replace(/^\[baton\] /, '')),
    },
  ]
}
