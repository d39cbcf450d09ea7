import type { ConfigProblem, ProjectFile } from '../../contract/policy.js'
import type { Event } from '../../contract/records/event.js'
import type { SessionRecord } from '../../contract/records/session.js'
import type { Observation, PlanLimit, RawSignal, Signal } from '../../contract/signal.js'
import { sanitizeName } from '../../lib/quote.js'
import { LIMIT_NOTICE_REPEAT_MS, limitNotices, permissionNotice } from '../../policy/notice-text.js'
import { SHOWN_ONCE_PREFIX } from '../../store/store.js'
import { reopenLevels } from '../../tracker/tracker.js'
import {
  awaitsTokenCounts,
  closeUnfinishedCompaction,
  endFailedCompaction,
  storeCompactionSign,
  storeCompactionStart,
  storeSummariserFailure,
} from '../compaction/compactions.js'
import { requestLateBrief, scheduleKeepingFacts } from '../compaction/deferred-work.js'
import { keepTranscript } from '../compaction/keep-transcript.js'
import { type EngineDependencies, emit, type SignalContext, type TakeOptions } from '../context.js'
import { reportRemovedAnswer } from '../handoff/brief-origin.js'
import { advanceHandoffs, insistAnswer, vetoAnswer } from '../handoff/handoff-signals.js'
import { alarmOnSilence, emitDueWarnings, warnOfLevels } from '../messages/level-warnings.js'
import {
  answerWithMessages,
  cancelStaleMessages,
  confirmDeliveredMessages,
  isAboutSession,
  queueMessage,
} from '../messages/messages.js'
import { notifyUser } from '../messages/notify-user.js'
import { isEnabled } from '../session-context.js'
import { applyStart, CONVERSATION_CATEGORIES } from './apply-start.js'
import { endDeadClients } from './end-dead-clients.js'
import { applyMeasurements, bookSpend, bookSubagent } from './measure.js'
import { type PreparedSignal, planObservation, prepareSignal, prepareSignalLocked } from './prepare-signal.js'
import { seatFor } from './seats.js'
import { newSessionRecord, updateSessionRecord } from './session-records.js'
import { jobTitle } from './session-title.js'
import { cancelWaitingMessages } from './switches.js'
import { expectAnswer, writeFarMark } from './tell-hooks.js'

export interface TakeResult {
  /** Text that the hook prints. Empty for no answer. */
  answer: string
  /** Null when the signal names no known agent or session. */
  record: SessionRecord | null
  /** True when Baton is on for the session, as judged for this signal. */
  enabled: boolean
  events: Event[]
  /**
   * True when the transcript is late by more than one batch. A later read may find a crossed level.
   */
  behind: boolean
  /** True while the transcript lacks the entries that this signal reports. */
  unsettled: boolean
  /** True when this signal was processed before. */
  repeated: boolean
  /**
   * True when hooks of the session leave its tool batches to the plugin module's reports.
   * Absent when this signal does not decide whether they do.
   */
  far?: boolean
  /** True when the store could not save the signal, so its sender must keep it. */
  failed?: boolean
}

export const EMPTY_RESULT: TakeResult = {
  answer: '',
  record: null,
  enabled: true,
  events: [],
  behind: false,
  unsettled: false,
  repeated: false,
}

/** Processes a signal in its own transaction, or in the one the caller has opened. */
export function takeOpened(deps: EngineDependencies, raw: RawSignal, opened: Signal, options: TakeOptions): TakeResult {
  if (deps.store.inTransaction()) return takePrepared(deps, prepareSignalLocked(deps, { raw, opened, options }))
  const ahead = new Map<string, unknown>()
  const prepared = prepareSignal(deps, { raw, opened, options }, ahead)
  return deps.store.transaction(() => takePrepared(deps, prepared), ahead)
}

/** Processes a signal inside a transaction: loads, tracks, decides, stores, builds the answer. */
export function takePrepared(deps: EngineDependencies, prepared: PreparedSignal): TakeResult {
  const { opened, signal, doubt, options } = prepared
  if (signal === null) return { ...EMPTY_RESULT, record: deps.store.session(opened.sessionId), repeated: true }
  const at = deps.now().toISOString()
  if (options.signalId && !deps.store.claimOnce(options.signalId, at))
    return requeueLostAnswer(deps, signal, options.signalId)
  const ended = options.again ? [] : endDeadClients(deps, signal)
  const context = openContext(deps, prepared, signal, at, ended)
  const { record, observation } = context
  const lagged = record.unsettled.length > 0 && observation.observed.length === 0
  const begins = signal.kind === 'compact-start'
  if (!options.again) {
    confirmDeliveredMessages(context)
    if (!begins) applyKind(context, observation.summary ?? null)
  }
  const { crossed, hasReading } = applyMeasurements(context, observation)
  if (observation.gaveUp) endFailedCompaction(context, observation.gaveUp)
  if (hasReading && !signal.subagent) record.silence = { toolCalls: 0, since: at, alarmed: false }
  if (!options.again) {
    // Transcript entries that exist when a compaction begins came before the compaction.
    if (begins) applyKind(context, null)
    if (begins && observation.mayBeForbidden && record.compaction) record.compaction.mayBeForbidden = true
    noteActivity(context, observation)
  } else if (observation.settled) {
    // The answer of a batch that arrived since may still be missing in the transcript.
    record.unsettled = record.unsettled.filter((id) => signal.kind === 'tool-batch' && !signal.toolUseIds.includes(id))
  }
  // A repeated read happens after the event, so it must not close a compaction that began since.
  if (!options.again) closeCompaction(context, observation)
  emitDueWarnings(context, observation)
  warnOfLevels(context, crossed)
  alarmOnSilence(context)
  // Without a server, the hook's own process answers.
  // A second process with the same signal must not withdraw that answer.
  if (!options.again) advanceHandoffs(context)
  if (doubt !== null && !options.again) reportRemovedAnswer(context, doubt)
  if (signal.kind === 'turn-end' && !signal.subagent) scheduleKeepingFacts(context)
  const answer =
    directAnswer(context, options) ??
    answerWithMessages(context, options.deliver, options.unserved ? null : (options.signalId ?? null))
  if (options.unserved && !signal.subagent) expectAnswer(context)
  const far = (options.served || options.unserved) && !signal.subagent ? writeFarMark(context, observation) : null
  deps.store.putSession(record)
  const isLooking = observation.live === null || record.dueWarnings !== undefined
  const unsettled = !observation.settled && isLooking && !signal.subagent
  return {
    answer,
    record,
    enabled: context.enabled,
    events: context.events,
    behind: unsettled && observation.live === null && lagged && signal.kind === 'tool-batch' && answer === '',
    unsettled,
    repeated: false,
    ...(far === null ? {} : { far }),
  }
}

/**
 * Returns Baton's own reply to this event. Null when there is none: a waiting message may be sent.
 */
function directAnswer(context: SignalContext, { deliver, byRunner }: TakeOptions): string | null {
  if (deliver !== 'answer') return byRunner ? summaryInstructionAnswer(context) : null
  return vetoAnswer(context) ?? summaryInstructionAnswer(context) ?? insistAnswer(context)
}

/**
 * Returns the summariser's instructions. Null when there are none or no summariser reads the event.
 */
function summaryInstructionAnswer({ agent, signal, instructions }: SignalContext): string | null {
  if (instructions === '') return null
  return agent.instruct?.(signal.event, instructions) ?? null
}

/** Queues the messages of a repeated signal's answer again. Its hook never received that answer. */
function requeueLostAnswer(deps: EngineDependencies, signal: Signal, signalId: string): TakeResult {
  const record = deps.store.session(signal.sessionId)
  for (const message of record ? deps.store.openMessages(record.seatId) : []) {
    if (message.status === 'sent' && message.sent_with === signalId) {
      deps.store.putMessage({ ...message, status: 'queued', sent_at: null, via: null, sent_with: null })
    }
  }
  return { ...EMPTY_RESULT, record, repeated: true }
}

function openContext(
  deps: EngineDependencies,
  { raw, look: before, read, options }: PreparedSignal,
  signal: Signal,
  at: string,
  events: Event[],
): SignalContext & { observation: Observation } {
  const agent = deps.agents[signal.agent]!
  const { key, observe, record: known, subagents } = planObservation(deps, raw, signal, before)
  const seen = deps.store.readUnlocked(key, observe)
  const observation = signal.limits && !seen.limits.exact ? { ...seen, limits: signal.limits } : seen
  const seat = seatFor(deps.store, signal, observation, known?.seatId ?? null, at, deps.newId)
  const record = updateSessionRecord(known ?? newSessionRecord(signal, seat, at), signal, observation, at)
  // A repeated read brings no signal, so the time of the last one stays.
  if (options.again && known) record.seenAt = known.seenAt
  const job = record.jobId === null ? null : deps.store.job(record.jobId)
  if (job !== null && record.title?.by !== 'job') record.title = jobTitle(job) ?? record.title ?? null
  // A worktree is named after its job, so it would appear as a project of its own.
  const worktree = job?.workspace?.worktree?.path
  if (worktree !== undefined && `${record.project}/`.startsWith(`${worktree}/`)) record.project = job!.spec.folder
  bookSpend(deps.store, known, record, at)
  const { policy, problems, project } = deps.policyOf({
    agent: signal.agent,
    project: signal.project ?? record.project,
    model: record.model,
    seat: seat.name ?? seat.seatId,
    env: raw.env,
  })
  const enabled = isEnabled(deps.store, record, policy.enabled)
  const context = {
    deps,
    agent,
    signal,
    record,
    seatName: seat.name,
    parentSeatId: seat.parentSeatId,
    policy,
    enabled,
    isNew: known === null,
    isAwaited: options.deliver === 'answer',
    isOrphaned: signal.pid !== null && observation.process === null && record.process !== null,
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
    bookSubagent(deps.store, record.sessionId, seen.reading?.model ?? before?.model ?? null, seen.spend, at)
    const spend = before?.spend ?? { input: 0, cacheCreation: 0, cacheRead: 0, output: 0, answers: 0 }
    deps.store.putSubagent({
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
    emit(context, 'session_started', { source: signal.start?.source ?? 'seen', cwd: record.cwd, model: record.model })
    emit(context, 'cycle_started', { cycle: record.track.cycle, reason: record.track.cycleReason })
  }
  if (known) noteSwitch(context, known.enabled)
  record.enabled = enabled
  noteLimits(context, known?.planLimits ?? null)
  const untrusted = project?.trusted === false ? project : null
  reportConfigErrors(
    context,
    problems.filter(({ file }) => file !== untrusted?.path),
  )
  if (untrusted) reportUntrustedFile(context, untrusted, problems)
  return context
}

/** Notifies the user of a used-up plan limit, known from the status line or from a failed turn. */
function noteLimits(context: SignalContext, before: SessionRecord['planLimits']): void {
  const { signal, record, at } = context
  const usedUp = (limits: readonly PlanLimit[] | null): PlanLimit[] =>
    (limits ?? []).filter(({ usedPercent, resetsAt }) => usedPercent >= 100 && (resetsAt === null || resetsAt > at))
  const known = new Set(usedUp(before).map(({ name }) => name))
  const now = usedUp(record.planLimits)
  const reached = signal.limited ? now : now.filter(({ name }) => !known.has(name))
  if (signal.limited && now.length === 0) reached.push({ name: 'usage', usedPercent: 100, resetsAt: null })
  if (reached.length === 0 || context.policy.notify.length === 0) return
  const stored = context.deps.store.limitNotices(new Date(Date.parse(at) - LIMIT_NOTICE_REPEAT_MS).toISOString())
  notifyUser(
    context,
    reached.flatMap((limit) => limitNotices(limit, at, stored)),
  )
}

/**
 * Applies a change of `enabled` in the configuration in the same way as `baton on` and `baton off`.
 */
function noteSwitch(context: SignalContext, before: boolean | undefined): void {
  if (before === undefined || before === context.enabled) return
  if (context.enabled) context.record.track = reopenLevels(context.record.track)
  else cancelWaitingMessages(context.deps, context.record, context.at, 'Baton was switched off')
}

/**
 * Tells the user once that the files are refused.
 * The last good configuration stays in force.
 */
function reportConfigErrors(context: SignalContext, problems: readonly ConfigProblem[]): void {
  const { record } = context
  const trouble = problems.map(({ key, reason }) => `${key}: ${reason}`).join('; ')
  if ((record.configTrouble ?? '') === trouble) return
  record.configTrouble = trouble === '' ? null : trouble
  cancelStaleMessages(context, 'the configuration has changed', isAboutSession(context, ['config']))
  if (trouble === '' || !context.enabled || record.jobId !== null) return
  queueConfigNotice(
    context,
    `The configuration has errors, so the last valid one applies (${trouble}). Run: baton config check`,
  )
}

/**
 * Tells the user once per content of a project file that it is not trusted.
 * The file's own text is left out of the message, as it comes from the author of the repository.
 */
function reportUntrustedFile(
  context: SignalContext,
  { path, sha256, ignored }: ProjectFile,
  problems: readonly ConfigProblem[],
): void {
  const { deps, record, at, enabled } = context
  const broken = problems.some(({ file }) => file === path)
  if ((ignored.length === 0 && !broken) || !enabled || record.jobId !== null) return
  if (!deps.store.claimOnce(`${SHOWN_ONCE_PREFIX}untrusted.${path}.${sha256}`, at)) return
  queueConfigNotice(
    context,
    broken
      ? `${sanitizeName(path)} has errors and is not used. Run: baton config check`
      : `${sanitizeName(path)} is not trusted, so only its status line and new levels apply · ${TRUST_COMMANDS}`,
  )
}

const TRUST_COMMANDS = 'see what is ignored: baton config explain · accept the file: baton trust'

function queueConfigNotice(context: SignalContext, text: string): void {
  const { sessionId, seatId } = context.record
  const message = { category: 'config', mode: 'sequential', agent_text: null, user_text: `[baton] ${text}` } as const
  queueMessage(context, message, { seatId, sessionId })
}

/** Applies the effect of the event itself on the session, before any token count is read. */
function applyKind(context: SignalContext, summary: string | null): void {
  const { signal, record } = context
  if (signal.kind === 'compact-failed') storeSummariserFailure(context)
  if (signal.kind === 'waiting') notifyUser(context, [permissionNotice(signal.subagent !== null)])
  if (signal.subagent || (PROVES_RUNNING_CLIENT.has(signal.kind) && isFromDeadClient(context))) return
  switch (signal.kind) {
    case 'session-start':
      applyStart(context, summary)
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
      storeCompactionStart(context, signal.compaction?.trigger ?? 'auto')
      return
    case 'compact-end':
      storeCompactionSign(context, 'compact-end', signal.compaction ?? {})
      return
    case 'session-end':
      record.state = 'ended'
      record.endedAt = context.at
      if (signal.end?.reason === 'clear')
        cancelStaleMessages(context, 'the conversation was cleared', isAboutSession(context, CONVERSATION_CATEGORIES))
      emit(context, 'session_ended', { reason: signal.end?.reason ?? null })
      keepTranscript(context, 'session-end', 'session-end')
      if (signal.end?.reason !== 'clear' && signal.end?.reason !== 'resume') requestLateBrief(context, 'ended')
      return
    default:
      return
  }
}

/** Signals that prove a running client. They undo the recorded end of a session. */
const PROVES_RUNNING_CLIENT = new Set<Signal['kind']>(['prompt', 'tool-batch', 'turn-end', 'turn-failed', 'waiting'])

/**
 * True for a signal that was on its way when its client was killed.
 * A hook outlives its client. The next start in the folder may end the session before that signal.
 * Without this check, the session would count as working for ever and get no brief.
 */
function isFromDeadClient({ agent, record }: SignalContext): boolean {
  return record.state === 'ended' && record.process !== null && !agent.alive(record.process)
}

const SHOWS_CONTINUED_WORK = new Set(['tool-batch', 'turn-end', 'turn-failed', 'prompt'])

/**
 * Closes an unfinished compaction once work continues, as it was blocked or failed.
 * At the end of a turn, no further report of it is expected.
 */
function closeCompaction(context: SignalContext, { settled }: Observation): void {
  const { signal, record } = context
  if (signal.subagent || !record.compaction || record.compaction.completed) return
  if (signal.kind === 'session-end') closeUnfinishedCompaction(context, 'unknown')
  // The token counts come from the transcript, which is late. The next read finds them.
  else if (!settled && awaitsTokenCounts(context)) return
  // A user can type a prompt during a compaction, so a prompt ends only a compaction that finished.
  else if (signal.kind === 'prompt' && !record.compaction.failing && !record.compaction.seen.includes('boundary'))
    return
  else if (SHOWS_CONTINUED_WORK.has(signal.kind)) closeUnfinishedCompaction(context, 'judged')
}

function noteActivity(context: SignalContext, observation: Observation): void {
  const { signal, record } = context
  if (signal.subagent || signal.kind !== 'tool-batch') return
  const silent = record.silence
  record.silence = {
    ...silent,
    toolCalls: silent.toolCalls + signal.toolCalls,
    since: silent.toolCalls === 0 ? context.at : silent.since,
  }
  record.unsettled = observation.settled ? [] : signal.toolUseIds
}
