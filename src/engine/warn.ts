import type { ResolvedLevel } from '../contract/level.js'
import { decide } from '../policy/decide.js'
import type { Lately } from '../policy/guards.js'
import { remainingPercent, usedPercent } from '../policy/percent.js'
import { isSilent } from '../policy/silence.js'
import { guardText, silenceText } from '../policy/texts.js'
import { type Desk, type Draft, emit } from './draft.js'
import { arriveHandoff, mayHandOver, openHandoff } from './handoffs.js'
import { cancelStale, ofSession, queue } from './messages.js'

const HOUR = 3_600_000

/** One message for all levels one signal crossed, with the present figure; a warning still waiting from a lower level is replaced. */
export function warn(draft: Draft, crossed: readonly ResolvedLevel[]): void {
  if (crossed.length === 0) return
  const { record, policy } = draft
  // Its first answer may be above a level already: that it works is known by the answer, and the next handoff is judged by this one.
  const begun = openHandoff(draft)
  if (begun?.newSessionId === record.sessionId) arriveHandoff(draft, begun)
  const open = openHandoff(draft)
  const speaker = { sessionId: record.sessionId, seatName: draft.seatName, project: record.project }
  const decision = decide(crossed, record.track, policy, {
    speaker,
    job: record.jobId !== null,
    lately: lately(draft),
    mayHandOver: mayHandOver(draft),
    handingOver: open !== null && !open.offered,
  })
  if (!decision) return
  if (decision.guard)
    emit(draft, 'guard_tripped', { guard: decision.guard.name, reason: decision.guard.reason, level: decision.level.name })

  let messageId: string | null = null
  if (decision.agent !== null || decision.user !== null) {
    cancelStale(draft, `level ${decision.level.name} was reached`, ofSession(draft, ['context']))
    const stopped = decision.guard !== null && mayHandOver(draft) && open === null
    const user = stopped ? `${decision.user} · ${guardText(decision.guard!)}` : decision.user
    const content = { category: 'context', mode: decision.mode, agent_text: decision.agent, user_text: user }
    messageId = queue(draft, content, { seatId: record.seatId, sessionId: record.sessionId }).message_id
  }
  if (decision.parent !== null && draft.parentSeatId) {
    const content = { category: 'child-context', mode: decision.mode, agent_text: decision.parent, user_text: decision.parent }
    queue(draft, content, { seatId: draft.parentSeatId, sessionId: null })
  }
  emitWarning(draft, crossed, decision.level, messageId)
  if (decision.handoff && draft.enabled && record.attended === true && policy.handoff.mode === 'ask') offerHandoff(draft)
  if (!decision.handoff || !mayHandOver(draft)) return
  if (decision.guard === null && (open === null || open.offered))
    draft.parts.around().askForBrief(draft, { cause: 'level', level: decision.level.name, reason: null, unattended: true })
  const asked = openHandoff(draft)
  if (decision.lastCall && asked?.state === 'requested') draft.parts.store.putHandoff({ ...asked, lastCall: true })
}

/** `handoff.mode: ask`: the person decides. */
function offerHandoff(draft: Draft): void {
  const { record } = draft
  const text = `[baton] Time to hand over to a fresh session: type /handoff, or run baton handoffs request ${record.sessionId.slice(0, 8)}.`
  queue(
    draft,
    { category: 'context', mode: 'sequential', agent_text: null, user_text: text },
    { seatId: record.seatId, sessionId: record.sessionId },
  )
}

function emitWarning(draft: Draft, crossed: readonly ResolvedLevel[], level: ResolvedLevel, messageId: string | null): void {
  const { track } = draft.record
  emit(draft, 'context_warning', {
    contextUsedPercent: usedPercent(track.used, track.limits.point),
    contextRemainingPercent: remainingPercent(track.used, track.limits.point),
    inputTokens: track.usage?.input ?? track.used,
    cacheTokens: track.usage ? track.usage.cacheCreation + track.usage.cacheRead : null,
    contextWindow: track.limits.window,
    compactionTokens: track.limits.point,
    usedTokens: track.used,
    level: level.name,
    levels: crossed.map((level) => level.name),
    messageId,
  })
}

export function lately({ parts, record, at }: Pick<Desk, 'parts' | 'record' | 'at'>): Lately {
  const now = Date.parse(at)
  const since = new Date(now - HOUR).toISOString()
  const events = parts.store.events({ sessionId: record.sessionId, since })
  const cycles = events.filter(
    ({ type, data }) => type === 'cycle_started' && data.reason !== 'start' && data.reason !== 'resume',
  )
  // A cycle that a handoff began is counted with it.
  const compactions = cycles.filter(({ data }) => data.reason !== 'clear')
  const handoffs = parts.store.handoffs({ seatId: record.seatId, limit: 50 })
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

/** Enabled, but no readings arrive: said once, to the person. */
export function soundSilence(draft: Draft): void {
  const { record } = draft
  if (!draft.enabled || record.jobId !== null || !isSilent(record.silence, new Date(draft.at))) return
  const minutes = Math.round((Date.parse(draft.at) - Date.parse(record.silence.since)) / 60_000)
  const speaker = { sessionId: record.sessionId, seatName: draft.seatName, project: record.project }
  record.silence = { ...record.silence, alarmed: true }
  emit(draft, 'silence_alarm', { tool_calls: record.silence.toolCalls, minutes, since: record.silence.since })
  const text = silenceText(speaker, record.silence.toolCalls, minutes)
  queue(
    draft,
    { category: 'silence', mode: 'sequential', agent_text: null, user_text: text },
    { seatId: record.seatId, sessionId: record.sessionId },
  )
}
