import type { BriefStatus } from '../../contract/brief.js'
import { hindranceOf } from '../../engine/overlooked.js'
import { viewBrief, viewHandoff } from '../../engine/view-brief.js'
import type { House } from '../../house.js'
import { EXIT } from '../../lib/errors.js'
import type { Call, Cli } from '../command.js'
import { inHouse } from '../open-house.js'
import { handoffText } from '../render/brief-lines.js'
import { briefTable } from '../render/brief-table.js'
import { wrap } from '../render/wrap.js'
import { seatNamed } from '../seat-named.js'

/** Briefs of the past that nobody asks for every day. */
const SHOWN = 20
const OUT = new Set<BriefStatus>(['superseded', 'cancelled', 'failed'])

export async function list(call: Call, cli: Cli): Promise<number> {
  return inHouse(cli, (house) => {
    const seat = call.value('seat')
    const of = seat === null ? {} : { seatId: seatNamed(house, seat) }
    const all = house.store.briefs(of).reverse()
    const wanted = call.flag('all') ? all : all.filter(({ status }) => !OUT.has(status)).slice(0, SHOWN)
    const briefs = wanted.map(viewBrief)
    const handoffs = house.store.openHandoffs(of).map((one) => viewHandoff(one, hindranceOf(house.engine.parts, one)))
    if (call.json) {
      cli.print(JSON.stringify({ briefs, handoffs }))
      return EXIT.done
    }
    const { columns, paint } = cli.screen
    const say = (text: string): void => cli.print(wrap(text, columns, 2).join('\n'))
    if (briefs.length > 0) cli.print(briefTable(briefs, (id) => seatName(house, id), cli).join('\n'))
    else say(none(all.length))
    const left = all.length - wanted.length
    if (left > 0 && briefs.length > 0) say(paint(`and ${left} more: baton handoffs list --all`, 'dim'))
    for (const handoff of handoffs)
      say(`${paint('under way', 'yellow')}  ${seatName(house, handoff.seat_id)}: ${handoffText(handoff, cli.now())}`)
    return EXIT.done
  })
}

function none(all: number): string {
  return all > 0
    ? `No brief is in use; baton handoffs list --all shows ${all === 1 ? 'the one' : `all ${all}`} of before.`
    : 'No briefs yet. An agent gives one when a level asks for it, with /handoff, or by baton handoff <file>.'
}

export function seatName(house: House, seatId: string): string {
  return house.store.seat(seatId)?.name ?? seatId.slice(0, 12)
}
