import type { Event } from '../contract/event.js'
import type { SessionRecord } from '../contract/record.js'
import type { Observation, RawSignal, Signal } from '../contract/signal.js'
import { rearm } from '../tracker/tracker.js'
import { applyStart, CLEARED } from './apply-start.js'
import { bookSpend, bookSubagent } from './book-spend.js'
import {
  awaitsFigures,
  closeUnfinished,
  compactionGaveUp,
  compactionSign,
  compactionStarts,
  summariserFailed,
} from './compactions.js'
import { type Draft, emit, type Parts } from './draft.js'
import { endGone } from './end-gone.js'
import { expectAnswer } from './expect-answer.js'
import { insisted, moveHandoffs, vetoed } from './handoff-signals.js'
import { isForking, openHandoff } from './handoffs.js'
import { keepTranscript } from './keep-transcript.js'
import { wantBrief, wantFacts } from './late-work.js'
import { measure } from './measure.js'
import { cancelStale, confirm, type Delivery, give, ofSession, queue } from './messages.js'
import { ofJob } from './of-job.js'
import { openSignal } from './open-signal.js'
import type { ReadFacts } from './read-facts.js'
import { identify, newRecord } from './records.js'
import { seatFor } from './seats.js'
import { cancelWaiting, isEnabled } from './switches.js'
import { soundSilence, warn } from './warn.js'

export interface Taken {
  /** What the hook prints; '' says nothing. */
  answer: string
  /** null: the signal was not one of a known agent, or it had been taken before. */
  record: SessionRecord | null
  /** Whether the session is enabled, as it was judged for this signal. */
  enabled: boolean
  events: Event[]
  /** The transcript lags by more than one batch: looking again in a moment may find a level crossed. */
  behind: boolean
  /** The transcript does not hold yet what this signal speaks of. */
  unsettled: boolean
  /** This signal had been taken before. */
  repeated: boolean
  /** The store did not keep it: whoever sent it must. */
  failed?: boolean
}

export interface TakeOptions {
  deliver: Delivery
  /** Set for a signal that may arrive twice (kept in a file and sent): it counts once. */
  signalId?: string
  /** No server runs: the next hook is told whether to wait for the engine. */
  unserved?: boolean
  /** Another look for the same signal: the figures may be newer, the event itself has been taken. */
  again?: boolean
  /** It comes from whoever runs the session's job. */
  byRunner?: boolean
  /** Whoever sent it may be anybody on this machine: it is taken, and its answer holds none of a conversation's words. */
  stranger?: boolean
}

export const NOTHING: Taken = {
  answer: '',
  record: null,
  enabled: true,
  events: [],
  behind: false,
  unsettled: false,
  repeated: false,
}

/** One signal, one transaction: load, look, track, decide, write, and take what waits into the answer. */
export function takeSignal(parts: Parts, raw: RawSignal, options: TakeOptions): Taken {
  const signal = openSignal(parts, raw)
  if (signal) return takeOpened(parts, raw, signal, options)
  parts.log('debug', 'not a signal', { agent: raw.agent, kind: raw.kind })
  return NOTHING
}

export function takeOpened(parts: Parts, raw: RawSignal, told: Signal, options: TakeOptions): Taken {
  const signal = ofJob(parts, told, options.byRunner === true)
  if (signal === null) return { ...NOTHING, record: parts.store.session(told.sessionId), repeated: true }
  const read = options.again || !needsFacts(parts, signal) ? null : readAhead(parts, signal)
  return parts.store.transaction(() => {
    const at = parts.now().toISOString()
    if (options.signalId && !parts.store.takeOnce(options.signalId, at)) return repeated(parts, signal, options.signalId)
    const ended = options.again ? [] : endGone(parts, signal)
    const draft = openDraft(parts, raw, signal, at, read, ended)
    const { record, observation } = draft
    const lagged = record.unsettled.length > 0 && observation.observed.length === 0
    const begins = signal.kind === 'compact-start'
    if (!options.again) {
      confirm(draft)
      if (!begins) applyKind(draft, observation.summary ?? null)
    }
    const { crossed, heard } = measure(draft, observation)
    if (observation.gaveUp) compactionGaveUp(draft, observation.gaveUp)
    if (heard && !signal.subagent) record.silence = { toolCalls: 0, since: at, alarmed: false }
    if (!options.again) {
      // What the transcript holds when a compaction begins came before it.
      if (begins) applyKind(draft, null)
      if (begins && observation.mayBeForbidden && record.compaction) record.compaction.mayBeForbidden = true
      noteActivity(draft, observation)
    } else if (observation.settled) {
      // A batch that came meanwhile may still lack its answer.
      record.unsettled = record.unsettled.filter((id) => signal.kind === 'tool-batch' && !signal.toolUseIds.includes(id))
    }
    // Another look comes later than the event: what began since is not over because of it.
    if (!options.again) closeCompaction(draft, observation)
    warn(draft, crossed)
    soundSilence(draft)
    // Without a server the hook's own engine answers: another that holds the same signal must not take the answer back.
    if (!options.again) moveHandoffs(draft)
    if (signal.kind === 'turn-end' && !signal.subagent) wantFacts(draft)
    const answer =
      said(draft, options) ??
      give(draft, options.deliver, {
        signalId: options.unserved ? null : (options.signalId ?? null),
        stranger: options.stranger === true,
      })
    if (options.unserved && !signal.subagent) expectAnswer(draft)
    parts.store.putSession(record)
    const unsettled = !observation.settled && observation.live === null && !signal.subagent
    return {
      answer,
      record,
      enabled: draft.enabled,
      events: draft.events,
      behind: unsettled && lagged && signal.kind === 'tool-batch' && answer === '',
      unsettled,
      repeated: false,
    }
  })
}

/**
 * They may have to be read before the store is locked: a compaction begins, a turn ends that may hold a brief or has left one behind, or a
 * session begins that may be given such a one.
 */
function needsFacts(parts: Parts, { kind, sessionId, subagent, start }: Signal): boolean {
  const { store } = parts
  if (subagent) return false
  if (kind === 'session-start')
    return start?.source !== 'compact' && store.openHandoffs().some((one) => one.stale || isForking(one))
  if (kind !== 'turn-end') return kind === 'compact-start'
  const record = store.session(sessionId)
  const handoff = record && openHandoff({ parts, record })
  return handoff?.newSessionId === null
}

/** null: nothing could be read now; a process nobody waits for reads it later. */
function readAhead(parts: Parts, signal: Signal): ReadFacts | null {
  try {
    return parts.around().readAhead(parts, signal)
  } catch (error) {
    // The transcript is kept all the same: that matters most.
    parts.log('error', 'the facts of a session could not be read', { session: signal.sessionId, reason: String(error) })
    return null
  }
}

/** What Baton itself has to say to this very event; null: nothing, so what waits is said. */
function said(draft: Draft, { deliver, byRunner, stranger }: TakeOptions): string | null {
  if (deliver !== 'answer') return byRunner ? instructed(draft) : null
  return vetoed(draft) ?? (stranger ? null : (instructed(draft) ?? insisted(draft)))
}

/** null: there is nothing to tell a summariser, or this event's answer is not heard by one. */
function instructed({ agent, signal, instructions }: Draft): string | null {
  if (instructions === '') return null
  return agent.instruct?.(signal.event, instructions) ?? null
}

/** It was taken, but its hook never heard the answer and kept it: what that answer carried waits again. */
function repeated(parts: Parts, signal: Signal, signalId: string): Taken {
  const record = parts.store.session(signal.sessionId)
  for (const message of record ? parts.store.openMessages(record.seatId) : []) {
    if (message.status === 'sent' && message.sent_with === signalId) {
      parts.store.putMessage({ ...message, status: 'queued', sent_at: null, via: null, sent_with: null })
    }
  }
  return { ...NOTHING, record, repeated: true }
}

function openDraft(
  parts: Parts,
  raw: RawSignal,
  signal: Signal,
  at: string,
  read: ReadFacts | null,
  events: Event[],
): Draft & { observation: Observation } {
  const agent = parts.agents[signal.agent]!
  const known = parts.store.session(signal.sessionId)
  const subagents = signal.kind === 'status-line' ? [] : parts.store.subagents(signal.sessionId)
  const seen = agent.observe(signal, raw, {
    cursor: known?.cursor ?? null,
    subagentCursors: Object.fromEntries(subagents.map((s) => [s.subagentId, s.cursor])),
    model: known?.model ?? null,
    window: known?.track.limits.window ?? null,
    process: known?.process ?? null,
    liveDir: parts.liveDir,
    liveStamp: known?.track.stamps.mod ?? null,
    compactingSince: known?.compaction && !known.compaction.completed ? Date.parse(known.compaction.startedAt) : null,
  })
  const observation = signal.limits && !seen.limits.exact ? { ...seen, limits: signal.limits } : seen
  const seat = seatFor(parts.store, signal, observation, known?.seatId ?? null, at, parts.newId)
  const record = identify(known ?? newRecord(signal, seat, at), signal, observation, at)
  bookSpend(parts.store, known, record, at)
  const { policy, problems } = parts.policyOf({
    agent: signal.agent,
    project: record.project,
    model: record.model,
    seat: seat.name ?? seat.seatId,
    env: raw.env,
  })
  const enabled = isEnabled(parts.store, record, policy.enabled)
  const draft = {
    parts,
    agent,
    signal,
    record,
    seatName: seat.name,
    parentSeatId: seat.parentSeatId,
    policy,
    enabled,
    at,
    events,
    instructions: '',
    insistence: '',
    veto: '',
    takesOrders: observation.takesOrders ?? false,
    read,
    observation,
  }
  for (const seen of observation.subagents) {
    const before = subagents.find((s) => s.subagentId === seen.id)
    bookSubagent(parts.store, record.sessionId, seen.reading?.model ?? before?.model ?? null, seen.spend, at)
    const spend = before?.spend ?? { input: 0, cacheCreation: 0, cacheRead: 0, output: 0, answers: 0 }
    parts.store.putSubagent({
      sessionId: record.sessionId,
      subagentId: seen.id,
      type: seen.type ?? before?.type ?? null,
      description: seen.description ?? before?.description ?? null,
      model: seen.reading?.model ?? before?.model ?? null,
      used: seen.reading?.used ?? before?.used ?? null,
      limits: seen.limits,
      exact: seen.reading?.exact ?? before?.exact ?? false,
      cursor: seen.cursor,
      spend: {
        input: spend.input + seen.spend.input,
        cacheCreation: spend.cacheCreation + seen.spend.cacheCreation,
        cacheRead: spend.cacheRead + seen.spend.cacheRead,
        output: spend.output + seen.spend.output,
        answers: spend.answers + seen.spend.answers,
      },
      updatedAt: at,
    })
  }
  if (!known) {
    emit(draft, 'session_started', { source: signal.start?.source ?? 'seen', cwd: record.cwd, model: record.model })
    emit(draft, 'cycle_started', { cycle: record.track.cycle, reason: record.track.cycleReason })
  }
  if (known) noteSwitch(draft, known.enabled)
  record.enabled = enabled
  sayTrouble(draft, problems.map((p) => `${p.key}: ${p.reason}`).join('; '))
  return draft
}

/** The configuration switched Baton on or off: the same as `baton on` and `baton off`. */
function noteSwitch(draft: Draft, before: boolean | undefined): void {
  if (before === undefined || before === draft.enabled) return
  if (draft.enabled) draft.record.track = rearm(draft.record.track)
  else cancelWaiting(draft.parts, draft.record, draft.at, 'Baton was switched off')
}

/** Running sessions go on with the last good configuration, and the person is told once that they do. */
function sayTrouble(draft: Draft, trouble: string): void {
  const { record } = draft
  if ((record.configTrouble ?? '') === trouble) return
  record.configTrouble = trouble === '' ? null : trouble
  cancelStale(draft, 'the configuration has changed', ofSession(draft, ['config']))
  if (trouble === '' || !draft.enabled || record.jobId !== null) return
  const text = `[baton] The configuration has errors and the last good one stays in force (${trouble}). Run baton config check.`
  queue(
    draft,
    { category: 'config', mode: 'sequential', agent_text: null, user_text: text },
    { seatId: record.seatId, sessionId: record.sessionId },
  )
}

/** What the event itself says about the session, before any figure is looked at. */
function applyKind(draft: Draft, summary: string | null): void {
  const { signal, record } = draft
  if (signal.kind === 'compact-failed') summariserFailed(draft)
  if (signal.subagent) return
  switch (signal.kind) {
    case 'session-start':
      applyStart(draft, summary)
      return
    case 'prompt':
    case 'tool-batch':
      record.state = 'working'
      record.endedAt = null
      return
    case 'turn-end':
    case 'turn-failed':
      record.state = 'idle'
      return
    case 'waiting':
      record.state = 'waiting'
      return
    case 'compact-start':
      compactionStarts(draft, signal.compaction?.trigger ?? 'auto')
      return
    case 'compact-end':
      compactionSign(draft, 'compact-end', signal.compaction ?? {})
      return
    case 'session-end':
      record.state = 'ended'
      record.endedAt = draft.at
      if (signal.end?.reason === 'clear') cancelStale(draft, 'the conversation was cleared', ofSession(draft, CLEARED))
      emit(draft, 'session_ended', { reason: signal.end?.reason ?? null })
      keepTranscript(draft, 'session-end', 'session-end')
      if (signal.end?.reason !== 'clear' && signal.end?.reason !== 'resume') wantBrief(draft, 'ended')
      return
    default:
      return
  }
}

const WORK_GOES_ON = new Set(['tool-batch', 'turn-end', 'turn-failed', 'prompt'])

/** Once work goes on, a compaction whose other signs never came was blocked or failed; at the end of a turn none is awaited any more. */
function closeCompaction(draft: Draft, { settled }: Observation): void {
  const { signal, record } = draft
  if (signal.subagent || !record.compaction || record.compaction.completed) return
  if (signal.kind === 'session-end') closeUnfinished(draft, 'unknown')
  // Its figures stand in the transcript, which lags: the next look finds them.
  else if (!settled && awaitsFigures(draft)) return
  // A prompt can be typed while a compaction runs, so it shows nothing but that a finished one is over.
  else if (signal.kind === 'prompt' && !record.compaction.failing && !record.compaction.seen.includes('boundary')) return
  else if (WORK_GOES_ON.has(signal.kind)) closeUnfinished(draft, 'judged')
}

function noteActivity(draft: Draft, observation: Observation): void {
  const { signal, record } = draft
  if (signal.subagent || signal.kind !== 'tool-batch') return
  const silent = record.silence
  record.silence = {
    ...silent,
    toolCalls: silent.toolCalls + signal.toolCalls,
    since: silent.toolCalls === 0 ? draft.at : silent.since,
  }
  record.unsettled = observation.settled ? [] : signal.toolUseIds
}
