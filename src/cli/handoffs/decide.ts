import type { BriefRecord } from '../../contract/brief.js'
import type { HandoffRecord } from '../../contract/handoff.js'
import { approveBrief, dropBrief, dropHandoff } from '../../engine/handoff-calls.js'
import { viewBrief, viewHandoff } from '../../engine/view-brief.js'
import type { House } from '../../house.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import type { Call, Cli } from '../command.js'
import { whatNext } from '../commands/handoff.js'
import { inHouse } from '../open-house.js'
import { wrap } from '../render/wrap.js'
import { seatNamed } from '../seat-named.js'
import { briefNamed, callerOf, findBriefNamed } from './find.js'
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
    const found = find(house, call.words[1]!)
    const handoff = found.handoff && dropHandoff(house.engine.parts, { handoffId: found.handoff.handoffId, caller })
    const alone = found.brief && !handoff ? dropBrief(house.engine.parts, { briefId: found.brief.briefId, caller }) : null
    const brief = alone ?? (handoff?.briefId ? house.store.brief(handoff.briefId) : null)
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

function find(house: House, name: string): { brief: BriefRecord | null; handoff: HandoffRecord | null } {
  const brief = findBriefNamed(house, name)
  if (brief) {
    const open = house.store.openHandoffs({ seatId: brief.seatId })
    const later = open.find(({ sessionId, briefId }) => sessionId === brief.sessionId && briefId !== brief.briefId)?.briefId
    // Whoever names the brief they were shown means the handoff, not a text nobody would have used.
    if (brief.status === 'superseded' && later)
      throw new BatonError(
        `${brief.briefId} was replaced by ${later}.`,
        `Name that one: baton handoffs cancel ${later}.`,
        EXIT.refused,
      )
    return { brief, handoff: open.find(({ briefId }) => briefId === brief.briefId) ?? null }
  }
  const seatId = known(house, name)
  const open = house.store.openHandoffs({ seatId })
  // Of two clients in one seat the named one is meant.
  const handoff = open.find(({ sessionId }) => name.length > 3 && sessionId.startsWith(name)) ?? open.at(-1)
  if (handoff) return { brief: null, handoff }
  throw new BatonError(
    `No handoff of seat ${seatName(house, seatId)} is under way.`,
    'baton handoffs list --all shows what became of those before.',
    EXIT.notFound,
  )
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
