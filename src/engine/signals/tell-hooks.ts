import type { Observation } from '../../contract/signal.js'
import { isNearLevel, nearLevelFrom, nextLevelAt, resolveLevels } from '../../policy/levels.js'
import type { SignalContext } from '../context.js'
import { openHandoff } from '../handoff/handoffs.js'
import { awaitsTurnEnd } from '../messages/messages.js'
import { fallbackOnError } from '../messages/ready-messages.js'

/**
 * Stores for which events hooks must wait for the engine.
 * Without a server, other hooks return first.
 */
export function expectAnswer(context: SignalContext): void {
  const { record, policy, deps, agent } = context
  const speaks = context.enabled && record.jobId === null && record.state !== 'ended'
  const near = speaks && isNearLevel(record.track, resolveLevels(policy.levels, record.track.limits))
  const ends = openHandoff(context) !== null || awaitsTurnEnd(context)
  const awaited = [...(near ? agent.carriers.slice(0, 1) : []), ...(ends ? agent.turnEnds : [])]
  fallbackOnError(context, undefined, () => deps.outbox.markNear(record.sessionId, awaited))
}

/** Threshold above any possible token count, for a session without a further level. */
const NO_LEVEL_LEFT = 999_999_999

/**
 * Tells hooks the token count below which a tool batch needs no engine.
 * Applies to tool batches that the plugin module reported. Returns true when there is a count.
 * The count holds while no message waits, no level is near and the plugin module reports.
 */
export function writeFarMark(context: SignalContext, { live }: Observation): boolean {
  const { record, policy, deps, signal } = context
  const levels = resolveLevels(policy.levels, record.track.limits)
  const isCalm =
    context.enabled &&
    live !== null &&
    // Reports do not count tool calls, which the alarm about missing figures needs.
    (signal.kind !== 'tool-batch' || record.silence.toolCalls <= signal.toolCalls) &&
    record.jobId === null &&
    record.state === 'working' &&
    (record.compaction === null || record.compaction.completed) &&
    record.dueWarnings === undefined &&
    !isNearLevel(record.track, levels) &&
    deps.store.openMessages(record.seatId).length === 0 &&
    openHandoff(context) === null
  const tokens = (place: number): number => Math.min(NO_LEVEL_LEFT, Math.floor(place))
  const far = isCalm
    ? { below: tokens(nearLevelFrom(record.track, levels)), level: tokens(nextLevelAt(record.track, levels)) }
    : null
  return fallbackOnError(context, false, () => {
    deps.outbox.markFar(record.sessionId, far)
    return isCalm
  })
}
