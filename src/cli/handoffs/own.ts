import { briefNamed, factsOf } from '../../briefs-of.js'
import type { SessionRecord } from '../../contract/record.js'
import { takeUp, writeNow } from '../../engine/own-briefs.js'
import { viewBrief } from '../../engine/view-brief.js'
import type { House } from '../../house.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import type { Call, Cli } from '../command.js'
import { inHouse } from '../open-house.js'
import { scoreText } from '../render/brief-lines.js'
import { tilde } from '../render/paths.js'
import { wrap } from '../render/wrap.js'
import { newestHere } from './check.js'
import { callerOf, sessionMeant } from './find.js'
import { seatName } from './list.js'

/** A brief without a model, of a session that runs or ran. */
export async function write(call: Call, cli: Cli): Promise<number> {
  return inHouse(cli, (house) => {
    const record = sessionMeant(house, cli, call.value('session')) ?? newestHere(house, cli)
    const { sessionId } = record
    const brief = writeNow(house.engine.parts, { sessionId, caller: callerOf(cli), read: factsOf(house, record) })
    if (call.json) cli.print(JSON.stringify(viewBrief(brief)))
    else {
      const said = `Brief ${brief.sequence} of seat ${seatName(house, brief.seatId)} is kept as ${brief.briefId}. It carries ${scoreText(brief.coverage)} of what happened.`
      const next = `The session goes on as it was. To give it to a running session: baton handoffs use ${brief.briefId}.`
      const { columns } = cli.screen
      cli.print([...wrap(said, columns, 2), `  ${tilde(brief.path, cli.env.HOME)}`, ...wrap(next, columns, 2)].join('\n'))
    }
    return EXIT.done
  })
}

/** A running session is given a brief that lies there. */
export async function use(call: Call, cli: Cli): Promise<number> {
  return inHouse(cli, (house) => {
    const { briefId } = briefNamed(house, call.words[1]!)
    const target = sessionMeant(house, cli, call.value('session')) ?? running(house, newestHere(house, cli))
    const { sessionId } = target
    const brief = takeUp(house.engine.parts, { briefId, sessionId, caller: callerOf(cli) })
    const next = 'The agent has it with its next request; until then it is not used.'
    if (call.json) cli.print(JSON.stringify({ ...viewBrief(brief), next }))
    else
      cli.print(
        wrap(`${brief.briefId} is on its way to session ${sessionId.slice(0, 8)}. ${next}`, cli.screen.columns, 2).join('\n'),
      )
    return EXIT.done
  })
}

function running(house: House, record: SessionRecord): SessionRecord {
  if (house.view(record).state !== 'ended') return record
  throw new BatonError(
    'No session runs in this folder.',
    'Start one here, or name one: baton handoffs use <brief> --session ID.',
    EXIT.refused,
  )
}
