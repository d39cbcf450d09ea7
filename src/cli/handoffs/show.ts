import { addedIn, briefNamed, readWhole } from '../../briefs-of.js'
import type { BriefOrigin } from '../../contract/brief.js'
import { hindranceOf } from '../../engine/overlooked.js'
import { viewBrief, viewHandoff } from '../../engine/view-brief.js'
import { untrustedText } from '../../handoff/resume-text.js'
import { EXIT } from '../../lib/errors.js'
import type { Call, Cli } from '../command.js'
import { inHouse } from '../open-house.js'
import { briefPage } from '../render/brief-page.js'

const LONGEST = 64_000

export async function show(call: Call, cli: Cli): Promise<number> {
  return inHouse(cli, (house) => {
    const record = briefNamed(house, call.words[1]!)
    const { verdict, body, text, origin, addenda } = readWhole(house, record)
    // An agent may run this too: what Baton did not keep so is data.
    const untrusted = body === null || text !== null ? null : untrustedText(record.path, body, LONGEST)
    const brief = viewBrief(record)
    const last = house.store.handoffs({ seatId: record.seatId }).findLast(({ briefId }) => briefId === record.briefId)
    const handoff = last ? viewHandoff(last, hindranceOf(house.engine.parts, last)) : null
    if (call.json) {
      const from = origin && spelled(origin)
      const shown = {
        ...brief,
        addenda,
        verdict,
        text,
        untrusted_text: untrusted,
        added: addedIn(text),
        front_matter: from,
        handoff,
      }
      cli.print(JSON.stringify(shown))
      return EXIT.done
    }
    const seatName = house.store.seat(record.seatId)?.name ?? null
    const { columns, paint } = cli.screen
    const on = { columns, paint, now: cli.now(), home: cli.env.HOME }
    cli.print(briefPage({ brief, verdict, text, untrusted, addenda, handoff, seatName }, on).join('\n'))
    return EXIT.done
  })
}

/** As it stands in the file. */
function spelled(origin: BriefOrigin): Record<string, unknown> {
  const snake = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(origin).map(([key, value]) => [snake(key), value]))
}
