import type { Crossing, ResolvedLevel } from '../../contract/level.js'
import type { Observation } from '../../contract/signal.js'
import { decideOnCrossings } from '../../policy/decide.js'
import type { RecentHandoffs } from '../../policy/guards.js'
import { levelNotice, silenceNotice } from '../../policy/notice-text.js'
import { contextPercentages } from '../../policy/percent.js'
import { isSilent } from '../../policy/silence.js'
import { guardText, silenceText } from '../../policy/texts.js'
import { emit, type SessionContext, type SignalContext } from '../context.js'
import { mayHandOver, openHandoff } from '../handoff/handoffs.js'
import { rareWork } from '../load-rare-work.js'
import { cancelStaleMessages, isAboutSession, queueMessage } from './messages.js'
import { notifyUser } from './notify-user.js'
import { speakerFor } from './session-speaker.js'

const HOUR = 3_600_000

/**
 * Queues one message for all levels a signal crossed, with the current figure.
 * Replaces a waiting warning of a lower level.
 */
export function warnOfLevels(context: SignalContext, crossed: readonly Crossing[]): void {
  if (crossed.length === 0) return
  const { record, policy } = context
  // The first answer of a fresh session may be above a level.
  // The first answer proves that the session works, so the handoff that began it is over.
  // The next handoff is judged separately.
  const begun = openHandoff(context)
  if (begun?.newSessionId === record.sessionId) rareWork(context.deps).arriveHandoff(context, begun)
  const open = openHandoff(context)
  const speaker = speakerFor(record, context.seatName)
  const decision = decideOnCrossings(crossed, record.track, policy, {
    speaker,
    job: record.jobId !== null,
    lately: recentHandoffs(context),
    mayHandOver: mayHandOver(context),
    mayOffer: context.enabled && record.attended === true && policy.handoff.mode !== 'off',
    reported: record.track.source === 'monitor',
    handingOver: open !== null && !open.offered,
  })
  emitWithoutMessage(context, crossed)
  if (!decision) return
  if (decision.guard)
    emit(context, 'guard_tripped', {
      guard: decision.guard.name,
      reason: decision.guard.reason,
      level: decision.level.name,
    })

  let messageId: string | null = null
  if (decision.agent !== null || decision.user !== null) {
    cancelStaleMessages(context, `level ${decision.level.name} was reached`, isAboutSession(context, ['context']))
    const stopped = decision.guard !== null && mayHandOver(context) && open === null
    const user = stopped ? `${decision.user} · ${guardText(decision.guard!)}` : decision.user
    const content = { category: 'context', mode: decision.mode, agent_text: decision.agent, user_text: user }
    messageId = queueMessage(context, content, { seatId: record.seatId, sessionId: record.sessionId }).message_id
  }
  if (decision.user !== null) notifyUser(context, [levelNotice(record.track, decision.level)])
  if (decision.parent !== null && context.parentSeatId) {
    const content = {
      category: 'child-context',
      mode: decision.mode,
      agent_text: decision.parent,
      user_text: decision.parent,
    }
    queueMessage(context, content, { seatId: context.parentSeatId, sessionId: null })
  }
  const { used: usedTokens, usage } = record.track
  emitWarning(context, crossed, decision.level, messageId, { usedTokens, usage })
  if (decision.handoff && context.enabled && record.attended === true && policy.handoff.mode === 'ask')
    offerHandoff(context)
  if (!decision.handoff || !mayHandOver(context)) return
  if (decision.guard === null && (open === null || open.offered))
    rareWork(context.deps).askForBrief(context, {
      cause: 'level',
      level: decision.level.name,
      reason: null,
      unattended: true,
    })
  if (decision.lastCall && openHandoff(context)?.state === 'requested') rareWork(context.deps).stopAsking(context)
}

/** Offers a handoff to the user, who decides in `handoff.mode: ask`. */
function offerHandoff(context: SignalContext): void {
  const { record } = context
  const command = `baton handoffs request ${record.sessionId.slice(0, 8)}`
  const text = `[baton] It is time for a handoff to a fresh session · start it: /handoff or ${command}`
  queueMessage(
    context,
    { category: 'context', mode: 'sequential', agent_text: null, user_text: text },
    { seatId: record.seatId, sessionId: record.sessionId },
  )
}

/**
 * Emits warning events for levels without a message: those of the preset `tens`, and those in jobs.
 * Each has the token counts at which its level was reached, as `level_crossed` has.
 */
function emitWithoutMessage(context: SignalContext, crossed: readonly Crossing[]): void {
  const inJob = context.record.jobId !== null
  for (const level of crossed)
    if (inJob || (level.emitsWarning && level.actions.length === 0)) emitWarning(context, [level], level, null, level)
}

/**
 * Emits a warning with the answer's `inputTokens` and `cacheTokens`.
 * The plugin module and a job's queries report only their sum.
 * If the transcript lacks the answer, the event waits for the next read of the transcript.
 */
function emitWarning(
  context: SignalContext,
  crossed: readonly ResolvedLevel[],
  level: ResolvedLevel,
  messageId: string | null,
  { usedTokens, usage }: Pick<Crossing, 'usedTokens' | 'usage'>,
): void {
  const { record } = context
  const { track } = record
  const data = {
    ...contextPercentages(usedTokens, track.limits.point),
    inputTokens: usage?.input ?? null,
    cacheTokens: usage ? usage.cacheCreation + usage.cacheRead : null,
    contextWindow: track.limits.window,
    compactionTokens: track.limits.point,
    usedTokens,
    level: level.name,
    levels: crossed.map((level) => level.name),
    messageId,
  }
  if (usage === null && track.source !== 'monitor' && record.cursor !== null)
    record.dueWarnings = [...(record.dueWarnings ?? []), data]
  else emit(context, 'context_warning', data)
}

/** Signals that arrive after the answer that caused a warning was written to the transcript. */
const AFTER_ANSWER = new Set(['turn-end', 'turn-failed', 'session-end', 'session-start', 'compact-start', 'prompt'])

/**
 * Emits `context_warning` events that were held back until the transcript shows their token counts.
 * Events whose counts never appear are emitted without counts, at the latest at the turn's end.
 */
export function emitDueWarnings(context: SignalContext, { observed, settled }: Observation): void {
  const { record, signal } = context
  if (record.dueWarnings === undefined) return
  const answers = observed.flatMap((one) => (one.type === 'answer' ? [one.reading] : []))
  const isOver = (settled && !signal.subagent && AFTER_ANSWER.has(signal.kind)) || signal.kind === 'session-end'
  const waiting = record.dueWarnings.filter((data) => {
    const usage = answers.find(({ used }) => used === data.usedTokens)?.usage ?? null
    // A later answer shows that no answer has this token count.
    const isPassed = answers.some(({ used }) => used !== null && used > Number(data.usedTokens))
    if (usage === null && !isOver && !isPassed) return true
    const counts = usage && { inputTokens: usage.input, cacheTokens: usage.cacheCreation + usage.cacheRead }
    emit(context, 'context_warning', { ...data, ...counts })
    return false
  })
  if (waiting.length > 0) record.dueWarnings = waiting
  else delete record.dueWarnings
}

export function recentHandoffs({ deps, record, at }: Pick<SessionContext, 'deps' | 'record' | 'at'>): RecentHandoffs {
  const now = Date.parse(at)
  const since = new Date(now - HOUR).toISOString()
  const events = deps.store.events({ sessionId: record.sessionId, since })
  const cycles = events.filter(
    ({ type, data }) => type === 'cycle_started' && data.reason !== 'start' && data.reason !== 'resume',
  )
  // A cycle that a handoff began is counted as that handoff.
  const compactions = cycles.filter(({ data }) => data.reason !== 'clear')
  const handoffs = deps.store.handoffs({ seatId: record.seatId, limit: 50 })
  const done = handoffs.filter(({ state }) => state === 'done')
  const last = done.at(-1)
  const over = handoffs.filter(({ state }) => state === 'done' || state === 'failed')
  const failures = over.length - 1 - over.findLastIndex(({ state }) => state === 'done')
  return {
    resets: compactions.length + done.filter(({ unattended, stateAt }) => unattended && stateAt >= since).length,
    sinceHandoff: last === undefined ? null : (now - Date.parse(last.stateAt)) / 1000,
    failures,
  }
}

/** Tells the user once that Baton is on but no token counts arrive. */
export function alarmOnSilence(context: SignalContext): void {
  const { record } = context
  if (!context.enabled || record.jobId !== null || !isSilent(record.silence, new Date(context.at))) return
  const minutes = Math.round((Date.parse(context.at) - Date.parse(record.silence.since)) / 60_000)
  const speaker = speakerFor(record, context.seatName)
  record.silence = { ...record.silence, alarmed: true }
  emit(context, 'silence_alarm', { tool_calls: record.silence.toolCalls, minutes, since: record.silence.since })
  notifyUser(context, [silenceNotice(record.silence.toolCalls, minutes)])
  const text = silenceText(speaker, record.silence.toolCalls, minutes)
  queueMessage(
    context,
    { category: 'silence', mode: 'sequential', agent_text: null, user_text: text },
    { seatId: record.seatId, sessionId: record.sessionId },
  )
}
