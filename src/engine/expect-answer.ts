import { resolveLevels } from '../policy/levels.js'
import { isNearLevel } from '../policy/near-level.js'
import type { Draft } from './draft.js'
import { openHandoff } from './handoffs.js'
import { awaitsTurnEnd } from './messages.js'
import { unhurt } from './ready-messages.js'

/** Without a server hooks run ahead of the engine, but for those whose answer is worth waiting for. */
export function expectAnswer(draft: Draft): void {
  const { record, policy, parts, agent } = draft
  const speaks = draft.enabled && record.jobId === null && record.state !== 'ended'
  const near = speaks && isNearLevel(record.track, resolveLevels(policy.levels, record.track.limits))
  const ends = openHandoff(draft) !== null || awaitsTurnEnd(draft)
  const awaited = [...(near ? agent.carriers.slice(0, 1) : []), ...(ends ? agent.turnEnds : [])]
  unhurt(draft, undefined, () => parts.outbox.expect(record.sessionId, awaited))
}
