import type { HandoffRecord } from '../contract/handoff.js'
import { KeyTrouble } from '../lib/machine-key.js'
import type { Draft } from './draft.js'
import { failHandoff } from './handoffs.js'
import { queue } from './messages.js'

/**
 * A step of a handoff that needs the key which signs briefs. Where that is damaged no brief can be kept or believed: the handoff fails, the
 * person is told why and how to mend it, and the signal goes on; thrown out of it, the rest of it would be lost too.
 */
export function unlessKeyless<Rest extends unknown[]>(step: (draft: Draft, ...rest: Rest) => void) {
  return (draft: Draft, ...rest: Rest): void => {
    try {
      step(draft, ...rest)
    } catch (error) {
      if (!(error instanceof KeyTrouble)) throw error
      giveUp(draft, error)
    }
  }
}

function giveUp(draft: Draft, { message, hint }: KeyTrouble): void {
  const { parts, record } = draft
  const { seatId, sessionId } = record
  // What nobody can hand over is compacted.
  draft.veto = ''
  for (const handoff of parts.store.openHandoffs({ seatId })) fail(draft, handoff, message)
  const text = `[baton] The handoff failed. ${message} ${hint}`
  queue(draft, { category: 'handoff', mode: 'sequential', agent_text: null, user_text: text }, { seatId, sessionId })
}

/** What was kept before may be genuine: once the key is back it can be given to a session. */
function fail(draft: Draft, handoff: HandoffRecord, why: string): void {
  const brief = handoff.briefId === null ? null : draft.parts.store.brief(handoff.briefId)
  failHandoff(draft, handoff, why)
  if (brief && brief.status !== 'used') draft.parts.store.putBrief({ ...brief, status: 'checked' })
}
