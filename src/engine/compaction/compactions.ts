import type { Event } from '../../contract/records/event.js'
import type { CompactionProgress, Track } from '../../contract/records/session.js'
import type { FailedCompaction } from '../../contract/signal.js'
import { formatTokens } from '../../policy/numbers.js'
import { contextPercentages } from '../../policy/percent.js'
import { compactedHereText, compactedText } from '../../policy/texts.js'
import { beginCycle, reopenAfterReport } from '../../tracker/tracker.js'
import { type EngineDependencies, emit, type SessionContext, type SignalContext } from '../context.js'
import { openHandoff } from '../handoff/handoffs.js'
import { rareWork } from '../load-rare-work.js'
import { cancelStaleMessages, isAboutSession, queueMessage } from '../messages/messages.js'
import { speakerFor } from '../messages/session-speaker.js'
import { isEnabled, sessionContext } from '../session-context.js'

/**
 * Signs by which Baton notices a compaction.
 * Up to five arrive for each compaction, and their order depends on client and transcript:
 * its start, the next session start, its end, the transcript's boundary and a lost token count.
 * Every kind counts once. The first of the last four begins the new cycle.
 * A kind that was seen already belongs to another compaction whose start was not reported.
 * A signal older than the cycle that a compaction began was delayed and is ignored.
 */
type Sign = CompactionProgress['seen'][number]

export function storeCompactionStart(context: SignalContext, trigger: 'auto' | 'manual'): void {
  if (!isOvertaken(context)) begin(context, trigger)
}

/** Begins the record of a compaction and keeps everything that the compaction may drop. */
function begin(context: SignalContext, trigger: 'auto' | 'manual'): void {
  open(context, trigger)
  rareWork(context.deps).prepareCompaction(context, trigger)
}

function isOvertaken({ signal, record: { track } }: SignalContext): boolean {
  return track.cycleReason === 'compaction' && signal.at < Date.parse(track.cycleStartedAt)
}

function open(context: SignalContext, trigger: 'auto' | 'manual'): void {
  const idle = isIdleCompaction(context, trigger)
  closeUnfinishedCompaction(context, 'judged')
  const { track } = context.record
  context.record.compaction = {
    startedAt: context.at,
    trigger,
    usedBefore: track.used,
    seen: ['compact-start'],
    after: null,
    durationMs: null,
    overflow: false,
    summary: null,
    completed: false,
    ...(idle ? { idle } : {}),
    ...(lacksAnswer(context) ? { lacks: track.seen.length } : {}),
  }
  context.record.state = 'compacting'
  emit(context, 'compaction_start', {
    triggerReason: trigger === 'auto' ? 'threshold_exceeded' : 'manual',
    ...contextPercentages(track.used, track.limits.point),
    compactionTokens: track.limits.point,
    ...(idle ? { idle } : {}),
  })
}

/**
 * True for the client's own compaction of an idle session.
 * Claude Code 2.1.325 compacts an idle session of 200k tokens or more.
 * The compaction comes six minutes before a one-hour prompt cache expires.
 * The client's hooks say `auto`, as within a turn. Only the missing turn tells the two apart.
 */
function isIdleCompaction({ signal, record }: SignalContext, trigger: 'auto' | 'manual'): boolean {
  const told = signal.kind === 'compact-start' || signal.kind === 'session-start'
  return told && trigger === 'auto' && record.state === 'idle' && record.attended !== false
}

function lacksAnswer({ record: { unsettled, cursor } }: SignalContext): boolean {
  return unsettled.length > 0 && !unsettled.some((id) => cursor?.calls?.includes(id))
}

interface SignDetail {
  trigger?: 'auto' | 'manual'
  before?: number | null
  after?: number | null
  durationMs?: number | null
  overflow?: boolean
  summary?: string | null
}

export function storeCompactionSign(
  context: SignalContext,
  sign: Exclude<Sign, 'compact-start'>,
  detail: SignDetail,
): void {
  const { record } = context
  const old = record.compaction
  if (old === null || !belongsToCompaction(context, old, sign)) {
    if (sign !== 'boundary' && sign !== 'figure-lost' && isOvertaken(context)) return
    begin(context, detail.trigger ?? old?.trigger ?? 'auto')
  }
  const now = record.compaction!
  const first = now.seen.every((seen) => seen === 'compact-start')
  record.compaction = {
    ...now,
    seen: [...now.seen, sign],
    // The transcript may have shown one more answer since the compaction began.
    usedBefore: (first ? record.track.used : null) ?? now.usedBefore ?? detail.before ?? null,
    after: detail.after ?? now.after,
    durationMs: detail.durationMs ?? now.durationMs,
    overflow: detail.overflow || now.overflow,
    summary: detail.summary ?? now.summary,
  }
  if (first) resetCycle(context)
  // The summary comes with the end, the figures with the boundary: both complete a compaction.
  if (['compact-end', 'boundary'].every((last) => record.compaction!.seen.includes(last as Sign)))
    completeCompaction(context, 'completed')
}

function belongsToCompaction(
  { signal, record: { track } }: SignalContext,
  progress: CompactionProgress,
  sign: Sign,
): boolean {
  const happened = hasHappened(progress)
  // A lost token count ends the cycle that knew the count, whatever ended the cycle before.
  if (sign === 'figure-lost') return !happened && !progress.completed
  const failed = !happened && progress.completed
  // Clients report a compaction before they continue.
  // Therefore a report after an answer of the new cycle is about another compaction.
  const wentOn = happened && track.readAt !== null && signal.at > Date.parse(track.readAt)
  return !failed && !progress.seen.includes(sign) && (sign === 'boundary' || !wentOn)
}

function resetCycle(context: SignalContext): void {
  const { record } = context
  cancelStaleMessages(context, 'the conversation was compacted', isAboutSession(context, ['context', 'silence']))
  record.compactions++
  record.track = beginCycle(record.track, context.at, 'compaction')
  // A manual or idle compaction happens between turns. Any other happens within one.
  record.state = record.compaction?.trigger === 'manual' || record.compaction?.idle ? 'idle' : 'working'
  emit(context, 'cycle_started', { cycle: record.track.cycle, reason: 'compaction' })
  queueCompactionNotices(context, record.compaction?.usedBefore ?? null)
  // A session that just ended by /clear may look compacted, but its brief is for the next session.
  if (context.signal.kind !== 'session-end' && openHandoff(context) !== null)
    rareWork(context.deps).reconsiderHandoff(context)
}

/**
 * Tells the user and the parent seat (the terminal or job that started this one) of a compaction.
 * `before`: tokens before the compaction, null when unknown.
 * The parent waits for the child's work, so it is told even where Baton is off for the child.
 * The user of such a child session is not told.
 */
function queueCompactionNotices(
  context: SessionContext & Pick<SignalContext, 'enabled' | 'seatName' | 'parentSeatId'>,
  before: number | null,
): void {
  const { record } = context
  if (record.jobId !== null) return
  const speaker = speakerFor(record, context.seatName)
  const tokens = before === null ? '' : ` (${formatTokens(before)} tokens before)`
  const detail = `${record.compaction?.idle ? ' while idle' : ''}${tokens}`
  if (context.enabled)
    queueMessage(
      context,
      { category: 'compaction', mode: 'sequential', agent_text: null, user_text: compactedHereText(speaker, detail) },
      { seatId: record.seatId, sessionId: record.sessionId },
    )
  if (context.parentSeatId && isSeatEnabled(context, context.parentSeatId)) {
    const text = compactedText(speaker, detail)
    queueMessage(
      context,
      { category: 'compaction', mode: 'sequential', agent_text: text, user_text: text },
      { seatId: context.parentSeatId, sessionId: null },
    )
  }
}

/** False when Baton was off for the seat's newest session at the last signal of that session. */
function isSeatEnabled({ deps }: SessionContext, seatId: string): boolean {
  const newest = deps.store.chain(seatId).at(-1)
  return newest === undefined || isEnabled(deps.store, newest, newest.enabled ?? true)
}

/**
 * Notes that the summariser failed.
 * The client may retry. If no other report follows, the compaction failed.
 */
export function storeSummariserFailure({ record }: SignalContext): void {
  const progress = record.compaction
  if (progress && !progress.completed) record.compaction = { ...progress, failing: true }
}

/** Ends a compaction that failed according to the transcript. */
export function endFailedCompaction(context: SignalContext, how: FailedCompaction): void {
  const { record } = context
  const isOpen = record.compaction !== null && !record.compaction.completed && !hasHappened(record.compaction)
  // After three compactions in a row that did not help, the client writes an error.
  // The compaction that the error stands for is opened and ended here.
  if (how === 'thrashing' && !isOpen) open(context, 'auto')
  else if (!isOpen) return
  if (how === 'stopped') closeUnfinishedCompaction(context, 'judged')
  else completeCompaction(context, how)
  if (record.state === 'compacting') record.state = 'idle'
}

type Outcome = 'completed' | 'failed' | 'blocked' | 'thrashing' | 'unknown'

/** Ends a compaction and emits its end event exactly once, with the token counts known by then. */
export function completeCompaction(context: SwitchedContext, outcome: Outcome): void {
  const progress = context.record.compaction
  if (!progress || progress.completed) return
  context.record.compaction = { ...progress, completed: true }
  context.deps.store.endCompaction(context.record.sessionId, progress.startedAt)
  const { after } = progress
  const usedBefore = figureBefore(progress, context.record.track)
  emit(context, 'compaction_complete', {
    outcome,
    triggerReason: progress.trigger === 'auto' ? 'threshold_exceeded' : 'manual',
    ...(progress.overflow ? { overflow: true } : {}),
    ...(progress.idle ? { idle: true } : {}),
    summary: progress.summary,
    tokensBefore: usedBefore,
    tokensAfter: after,
    tokensSaved: usedBefore !== null && after !== null ? usedBefore - after : null,
    durationMs: progress.durationMs,
    compactionTokens: context.record.track.limits.point,
  })
  // The transaction runs again when facts were read outside of it.
  // A log line cannot be undone, so it is written after the commit.
  context.deps.store.afterCommit(() =>
    context.deps.log('info', 'a compaction ended', {
      session: context.record.sessionId,
      trigger: progress.trigger,
      outcome,
      tokens_before: usedBefore,
      tokens_after: after,
    }),
  )
  const rare = rareWork(context.deps)
  if (outcome === 'completed') rare.recoverSecond(context, progress.summary)
  else rare.discardKeptFacts(context, outcome)
}

/**
 * Returns the tokens before a compaction. An answer written late counts until a new cycle begins.
 */
function figureBefore(progress: CompactionProgress, track: Track): number | null {
  const late = progress.lacks === undefined || hasHappened(progress) ? undefined : track.seen[progress.lacks]
  return late ?? progress.usedBefore
}

/** Context for ending a compaction. No signal is needed. */
type SwitchedContext = SessionContext & Pick<SignalContext, 'enabled'>

/**
 * Closes a compaction when no further report of it is expected.
 * A compaction that happened counts as completed.
 * For any other compaction, `judged` decides between failed and blocked.
 * `unknown` stores the outcome `unknown`, because the client is gone.
 */
export function closeUnfinishedCompaction(context: SwitchedContext, otherwise: 'judged' | 'unknown'): void {
  const progress = context.record.compaction
  if (!progress || progress.completed) return
  completeCompaction(
    context,
    hasHappened(progress) ? 'completed' : otherwise === 'unknown' ? 'unknown' : outcomeWithoutSigns(progress),
  )
}

/**
 * Tells whether a compaction without further reports failed or was blocked by a hook.
 * The transcript reports a blocked manual compaction, but not a blocked automatic one.
 * A failed summariser is mostly reported, though sometimes too late.
 */
function outcomeWithoutSigns(progress: CompactionProgress): 'failed' | 'blocked' {
  return progress.mayBeForbidden && !progress.failing && progress.trigger === 'auto' ? 'blocked' : 'failed'
}

/** Milliseconds to wait until the transcript holds the token counts of a compaction. */
const FIGURES_MS = 2_000

/**
 * True when the compaction happened but its token counts may still be missing in the transcript.
 */
export function awaitsTokenCounts({ record: { compaction, track }, at }: SwitchedContext): boolean {
  if (compaction === null || compaction.completed || !hasHappened(compaction)) return false
  return Date.parse(at) - Date.parse(track.cycleStartedAt) < FIGURES_MS
}

function hasHappened(progress: CompactionProgress): boolean {
  return progress.seen.length > 1
}

/**
 * Applies a monitor's notice that a session is being compacted.
 * Lets the session's levels (warning thresholds) be reported again and tells user and parent.
 * A client with a known process reports compactions by its own hooks, so nothing is sent twice.
 * The notice archives nothing and begins no cycle, as any caller of the endpoint can send it.
 * Returns the events to publish.
 */
export function reportCompaction(deps: EngineDependencies, sessionId: string): Event[] {
  return deps.store.transaction(() => {
    const events: Event[] = []
    const known = deps.store.session(sessionId)
    if (known === null) return events
    // The store returns its cached records, so they must not be changed in place.
    const record = { ...known, track: reopenAfterReport(known.track) }
    if (record.process === null) {
      const context = sessionContext(deps, deps.agents[record.agent]!, record, events)
      const { enabled, seatName } = context
      const parentSeatId = deps.store.seat(record.seatId)?.parentSeatId ?? null
      queueCompactionNotices(
        { deps, agent: context.agent, record, at: context.at, events, enabled, seatName, parentSeatId },
        known.track.used,
      )
    }
    deps.store.putSession(record)
    return events
  })
}
