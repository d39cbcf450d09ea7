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
import { cancelStale, ofSession, queue } from '../messages/messages.js'
import { speakerFor } from '../messages/session-speaker.js'
import { isEnabled, sessionContext } from '../session-context.js'

/**
 * One compaction shows itself by up to five signs, in an order that differs by client and by how late the transcript is:
 * its start, the session start that follows it, its end, the boundary in the transcript, and a source that knew the figure
 * and knows none any more. Each sign counts once. The first of the last four begins the new cycle; a sign that was already
 * seen belongs to another compaction whose start nobody told. Unless the signal that brings it is older than the cycle a
 * compaction began: then it waited somewhere while the transcript told of it.
 */
type Sign = CompactionProgress['seen'][number]

export function compactionStarts(context: SignalContext, trigger: 'auto' | 'manual'): void {
  if (!isOvertaken(context)) begin(context, trigger)
}

/** Everything it may drop is kept first. */
function begin(context: SignalContext, trigger: 'auto' | 'manual'): void {
  open(context, trigger)
  rareWork(context.deps).keepBefore(context, trigger)
}

function isOvertaken({ signal, record: { track } }: SignalContext): boolean {
  return track.cycleReason === 'compaction' && signal.at < Date.parse(track.cycleStartedAt)
}

function open(context: SignalContext, trigger: 'auto' | 'manual'): void {
  const idle = isIdleCompaction(context, trigger)
  closeUnfinished(context, 'judged')
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
 * Claude Code 2.1.325 compacts an idle session of 200k tokens or more six minutes before a one-hour
 * prompt cache expires. Its hooks say `auto`, as within a turn; only that no turn runs tells them apart.
 */
function isIdleCompaction({ signal, record }: SignalContext, trigger: 'auto' | 'manual'): boolean {
  const told = signal.kind === 'compact-start' || signal.kind === 'session-start'
  return told && trigger === 'auto' && record.state === 'idle' && record.attended !== false
}

function lacksAnswer({ record: { unsettled, cursor } }: SignalContext): boolean {
  return unsettled.length > 0 && !unsettled.some((id) => cursor?.calls?.includes(id))
}

export interface SignDetail {
  trigger?: 'auto' | 'manual'
  before?: number | null
  after?: number | null
  durationMs?: number | null
  overflow?: boolean
  summary?: string | null
}

export function compactionSign(context: SignalContext, sign: Exclude<Sign, 'compact-start'>, detail: SignDetail): void {
  const { record } = context
  const old = record.compaction
  if (old === null || !belongs(context, old, sign)) {
    if (sign !== 'boundary' && sign !== 'figure-lost' && isOvertaken(context)) return
    begin(context, detail.trigger ?? old?.trigger ?? 'auto')
  }
  const now = record.compaction!
  const first = now.seen.every((seen) => seen === 'compact-start')
  record.compaction = {
    ...now,
    seen: [...now.seen, sign],
    // The transcript may have told of one more answer since the start was.
    usedBefore: (first ? record.track.used : null) ?? now.usedBefore ?? detail.before ?? null,
    after: detail.after ?? now.after,
    durationMs: detail.durationMs ?? now.durationMs,
    overflow: detail.overflow || now.overflow,
    summary: detail.summary ?? now.summary,
  }
  if (first) resetCycle(context)
  // The summary comes with the end, the figures with the boundary.
  if (['compact-end', 'boundary'].every((last) => record.compaction!.seen.includes(last as Sign)))
    complete(context, 'completed')
}

function belongs({ signal, record: { track } }: SignalContext, progress: CompactionProgress, sign: Sign): boolean {
  const happened = hasHappened(progress)
  // A figure that was known in this cycle and is lost ends this cycle, whatever ended the one before.
  if (sign === 'figure-lost') return !happened && !progress.completed
  const failed = !happened && progress.completed
  // The client tells before it goes on: what it tells after an answer of the new cycle is news.
  const wentOn = happened && track.readAt !== null && signal.at > Date.parse(track.readAt)
  return !failed && !progress.seen.includes(sign) && (sign === 'boundary' || !wentOn)
}

function resetCycle(context: SignalContext): void {
  const { record } = context
  cancelStale(context, 'the conversation was compacted', ofSession(context, ['context', 'silence']))
  record.compactions++
  record.track = beginCycle(record.track, context.at, 'compaction')
  // By hand and in an idle session it happens between turns; else the client compacts within one.
  record.state = record.compaction?.trigger === 'manual' || record.compaction?.idle ? 'idle' : 'working'
  emit(context, 'cycle_started', { cycle: record.track.cycle, reason: 'compaction' })
  tellCompaction(context, record.compaction?.usedBefore ?? null)
  // A session that just ended by /clear may look compacted, and its brief is for the next one.
  if (context.signal.kind !== 'session-end' && openHandoff(context) !== null)
    rareWork(context.deps).reconsiderHandoff(context)
}

/**
 * Tells the user and the parent seat. The parent waits for the child's work, so it is told also where
 * Baton is off for the child; the user of that session is not. `before`: tokens before the
 * compaction; null when they are not known.
 */
export function tellCompaction(
  context: SessionContext & Pick<SignalContext, 'enabled' | 'seatName' | 'parentSeatId'>,
  before: number | null,
): void {
  const { record } = context
  if (record.jobId !== null) return
  const speaker = speakerFor(record, context.seatName)
  const tokens = before === null ? '' : ` (${formatTokens(before)} tokens before)`
  const detail = `${record.compaction?.idle ? ' while idle' : ''}${tokens}`
  if (context.enabled)
    queue(
      context,
      { category: 'compaction', mode: 'sequential', agent_text: null, user_text: compactedHereText(speaker, detail) },
      { seatId: record.seatId, sessionId: record.sessionId },
    )
  if (context.parentSeatId && isOn(context, context.parentSeatId)) {
    const text = compactedText(speaker, detail)
    queue(
      context,
      { category: 'compaction', mode: 'sequential', agent_text: text, user_text: text },
      { seatId: context.parentSeatId, sessionId: null },
    )
  }
}

/** False: Baton was off for the newest session of the seat when it was last heard of. */
function isOn({ deps }: SessionContext, seatId: string): boolean {
  const newest = deps.store.chain(seatId).at(-1)
  return newest === undefined || isEnabled(deps.store, newest, newest.enabled ?? true)
}

/** Its summariser failed. The client may have another way; if none of the other signs comes, the compaction failed with it. */
export function summariserFailed({ record }: SignalContext): void {
  const progress = record.compaction
  if (progress && !progress.completed) record.compaction = { ...progress, failing: true }
}

/** The transcript says that one did not come about. */
export function compactionGaveUp(context: SignalContext, how: FailedCompaction): void {
  const { record } = context
  const isOpen = record.compaction !== null && !record.compaction.completed && !hasHappened(record.compaction)
  // After three in a row that did not help, the client begins no other and says so: that one ends with its beginning.
  if (how === 'thrashing' && !isOpen) open(context, 'auto')
  else if (!isOpen) return
  if (how === 'stopped') closeUnfinished(context, 'judged')
  else complete(context, how)
  if (record.state === 'compacting') record.state = 'idle'
}

type Outcome = 'completed' | 'failed' | 'blocked' | 'thrashing' | 'unknown'

/** The pair of events ends exactly once, with what is known by then. */
export function complete(context: SwitchedContext, outcome: Outcome): void {
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
  context.deps.log('info', 'a compaction ended', {
    session: context.record.sessionId,
    trigger: progress.trigger,
    outcome,
    tokens_before: usedBefore,
    tokens_after: after,
  })
  const rare = rareWork(context.deps)
  if (outcome === 'completed') rare.recoverSecond(context, progress.summary)
  else rare.discardKeptFacts(context, outcome)
}

/** What began before its last answer was written down learns of it while nothing has reset the cycle. */
function figureBefore(progress: CompactionProgress, track: Track): number | null {
  const late = progress.lacks === undefined || hasHappened(progress) ? undefined : track.seen[progress.lacks]
  return late ?? progress.usedBefore
}

/** What ending a pair needs: there may be no signal at hand. */
export type SwitchedContext = SessionContext & Pick<SignalContext, 'enabled'>

/**
 * Nothing more is awaited of a compaction. Where it happened, that is how it ended; else `judged` says why it did not, and `unknown`
 * that nobody can tell, because the client has gone.
 */
export function closeUnfinished(context: SwitchedContext, otherwise: 'judged' | 'unknown'): void {
  const progress = context.record.compaction
  if (!progress || progress.completed) return
  complete(context, hasHappened(progress) ? 'completed' : otherwise === 'unknown' ? 'unknown' : whyNot(progress))
}

/**
 * Work went on, and none of the other signs had come. A compaction asked for by hand and forbidden is told of in the transcript. Any
 * other that was forbidden leaves no trace at all; one whose summariser failed mostly does, but its word may come too late.
 */
function whyNot(progress: CompactionProgress): 'failed' | 'blocked' {
  return progress.mayBeForbidden && !progress.failing && progress.trigger === 'auto' ? 'blocked' : 'failed'
}

const FIGURES_MS = 2_000

/** It happened, and its figures may still be on their way into the transcript. */
export function awaitsFigures({ record: { compaction, track }, at }: SwitchedContext): boolean {
  if (compaction === null || compaction.completed || !hasHappened(compaction)) return false
  return Date.parse(at) - Date.parse(track.cycleStartedAt) < FIGURES_MS
}

export function hasHappened(progress: CompactionProgress): boolean {
  return progress.seen.length > 1
}

/**
 * Takes a monitor's notice that a session is being compacted: its levels are open again, and user
 * and parent are told. A client whose process is known reports its compactions by its own hooks, so
 * nobody is told twice. Nothing is archived and no cycle begins, because anybody who can call the
 * endpoint could cause that. Returns the events to publish.
 */
export function reportCompaction(deps: EngineDependencies, sessionId: string): Event[] {
  return deps.store.transaction(() => {
    const events: Event[] = []
    const known = deps.store.session(sessionId)
    if (known === null) return events
    // The store hands out the records it remembers, so they are never changed in place.
    const record = { ...known, track: reopenAfterReport(known.track) }
    if (record.process === null) {
      const context = sessionContext(deps, deps.agents[record.agent]!, record, events)
      const { enabled, seatName } = context
      const parentSeatId = deps.store.seat(record.seatId)?.parentSeatId ?? null
      tellCompaction(
        { deps, agent: context.agent, record, at: context.at, events, enabled, seatName, parentSeatId },
        known.track.used,
      )
    }
    deps.store.putSession(record)
    return events
  })
}
