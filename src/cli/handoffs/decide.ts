import { briefNamed, cancelBrief, findBriefNamed, handoffUnderWay } from '../../briefs-of.js'
import type { BriefRecord } from '../../contract/brief.js'
import type { HandoffRecord } from '../../contract/handoff.js'
import { approveBrief, dropHandoff } from '../../engine/handoff-calls.js'
import { viewBrief, viewHandoff } from '../../engine/view-brief.js'
import type { Caller } from '../../engine/who-may.js'
import type { House } from '../../house.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import type { Call, Cli } from '../command.js'
import { whatNext } from '../commands/handoff.js'
import { inHouse } from '../open-house.js'
import { wrap } from '../render/wrap.js'
import { seatNamed } from '../seat-named.js'
import { callerOf } from './find.js'
import { seatName } from './list.js'

export async function approve(call: Call, cli: Cli): Promise<number> {
  return inHouse(cli, (house) => {
    const { briefId } = briefNamed(house, call.words[1]!)
    const { brief, handoff } = approveBrief(house.engine.parts, { briefId, caller: callerOf(cli) })
    const next = whatNext(house, cli, { handoff })
    if (call.json) cli.print(JSON.stringify({ ...viewBrief(brief), handoff: viewHandoff(handoff), next }))
    else cli.print(wrap(`${brief.briefId} is approved. ${next}`, cli.screen.columns, 2).join('\n'))
    return EXIT.done
  })
}

/** By its brief, or by the seat whose work would be handed over. */
export async function cancel(call: Call, cli: Cli): Promise<number> {
  return inHouse(cli, (house) => {
    const caller = callerOf(cli)
    const { brief, handoff } = drop(house, call.words[1]!, caller)
    if (call.json) {
      const told = { handoff: handoff ? viewHandoff(handoff) : null, brief: brief ? viewBrief(brief) : null }
      cli.print(JSON.stringify(told))
    } else {
      const text = handoff
        ? `The handoff of seat ${seatName(house, handoff.seatId)} is cancelled: session ${handoff.sessionId.slice(0, 8)} goes on.`
        : `${brief!.briefId} will not be used; it stays in ${brief!.path}.`
      cli.print(wrap(text, cli.screen.columns, 2).join('\n'))
    }
    return EXIT.done
  })
}

function drop(house: House, name: string, caller: Caller): { brief: BriefRecord | null; handoff: HandoffRecord | null } {
  const named = findBriefNamed(house, name)
  if (named) return cancelBrief(house, caller, named)
  const { handoffId } = handoffUnderWay(house, known(house, name), name)
  const handoff = dropHandoff(house.engine.parts, { handoffId, caller })
  return { handoff, brief: handoff.briefId === null ? null : house.store.brief(handoff.briefId) }
}

function known(house: House, name: string): string {
  try {
    return seatNamed(house, name)
  } catch (error) {
    if (!(error instanceof BatonError) || error.exit !== EXIT.notFound) throw error
    throw new BatonError(
      `There is no brief, seat or session "${name}".`,
      'baton handoffs list --all shows the briefs and what is under way.',
      EXIT.notFound,
    )
  }
}
