import { requestBrief } from '../../engine/handoff-calls.js'
import { viewHandoff } from '../../engine/view-brief.js'
import { EXIT } from '../../lib/errors.js'
import { typeMessages } from '../../message-typist.js'
import type { Call, Cli } from '../command.js'
import { whatNext } from '../commands/handoff.js'
import { inHouse, sessionNamed } from '../open-house.js'
import { wrap } from '../render/wrap.js'
import { callerOf } from './find.js'
import { seatName } from './list.js'

export async function request(call: Call, cli: Cli): Promise<number> {
  return inHouse(cli, async (house) => {
    const { sessionId } = sessionNamed(house, call.words[1]!)
    const asked = { sessionId, caller: callerOf(cli), reason: call.value('reason') }
    const handoff = requestBrief(house.engine.parts, asked)
    await typeMessages(house, handoff.seatId)
    const next = whatNext(house, cli, { handoff })
    if (call.json) cli.print(JSON.stringify({ ...viewHandoff(handoff), next }))
    else {
      const who = `session ${sessionId.slice(0, 8)} of seat ${seatName(house, handoff.seatId)}`
      cli.print(wrap(`A handoff of ${who} is asked for. ${next}`, cli.screen.columns, 2).join('\n'))
    }
    return EXIT.done
  })
}
