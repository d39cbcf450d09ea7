import { readAddendum } from '../../briefs/addendum.js'
import { readBrief } from '../../briefs/read-brief.js'
import type { BriefOrigin } from '../../contract/brief.js'
import { hindranceOf } from '../../engine/overlooked.js'
import { viewBrief, viewHandoff } from '../../engine/view-brief.js'
import { untrustedText } from '../../handoff/resume-text.js'
import { EXIT } from '../../lib/errors.js'
import { machineKey } from '../../lib/machine-key.js'
import type { Call, Cli } from '../command.js'
import { inHouse } from '../open-house.js'
import { addedIn, briefPage } from '../render/brief-page.js'
import { briefNamed } from './find.js'

const LONGEST = 64_000

export async function show(call: Call, cli: Cli): Promise<number> {
  return inHouse(cli, (house) => {
    const record = briefNamed(house, call.words[1]!)
    const key = machineKey(house.home.key)
    const { verdict, body, origin } = readBrief(record.path, key, record.sha256)
    const isGenuine = verdict === 'genuine'
    const text = isGenuine ? body : null
    // An agent may run this too: what Baton did not keep so is data.
    const untrusted = body === null || isGenuine ? null : untrustedText(record.path, body, LONGEST)
    const addenda = record.addenda.map(({ at, path, sha256 }) => {
      const late = readAddendum(path, key, { briefId: record.briefId, sha256 })
      return { at, path, text: late.verdict === 'genuine' ? late.body : null }
    })
    const brief = viewBrief(record)
    const last = house.store.handoffs({ seatId: record.seatId }).findLast(({ briefId }) => briefId === record.briefId)
    const handoff = last ? viewHandoff(last, hindranceOf(house.engine.parts, last)) : null
    if (call.json) {
      const from = isGenuine && origin ? spelled(origin) : null
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
