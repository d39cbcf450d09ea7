import type { CompactionProgress, Track } from '../contract/record.js'
import type { GaveUp } from '../contract/signal.js'
import { grouped } from '../policy/numbers.js'
import { remainingPercent, usedPercent } from '../policy/percent.js'
import { compactedHereText, compactedText } from '../policy/texts.js'
import { beginCycle } from '../tracker/tracker.js'
import { type Desk, type Draft, emit } from './draft.js'
import { cancelStale, ofSession, queue } from './messages.js'

/**
 * One compaction shows itself by up to five signs, in an order that differs by client and by how late the transcript is:
 * its start, the session start that follows it, its end, the boundary in the transcript, and a source that knew the figure
 * and knows none any more. Each sign counts once. The first of the last four begins the new cycle; a sign that was already
 * seen belongs to another compaction whose start nobody told. Unless the signal that brings it is older than the cycle a
 * compaction began: then it waited somewhere while the transcript told of it.
 */
type Sign = CompactionProgress['seen'][number]

export function compactionStarts(draft: Draft, trigger: 'auto' | 'manual'): void {
  if (!isOvertaken(draft)) begin(draft, trigger)
}

/** Everything it may drop is kept first. */
function begin(draft: Draft, trigger: 'auto' | 'manual'): void {
  open(draft, trigger)
  draft.parts.around().keepBefore(draft, trigger)
}

function isOvertaken({ signal, record: { track } }: Draft): boolean {
  return track.cycleReason === 'compaction' && signal.at < Date.parse(track.cycleStartedAt)
}

function open(draft: Draft, trigger: 'auto' | 'manual'): void {
  closeUnfinished(draft, 'judged')
  const { track } = draft.record
  draft.record.compaction = {
    startedAt: draft.at,
    trigger,
    usedBefore: track.used,
    seen: ['compact-start'],
    after: null,
    durationMs: null,
    overflow: false,
    summary: null,
    completed: false,
    ...(lacksAnswer(draft) ? { lacks: track.seen.length } : {}),
  }
  draft.record.state = 'compacting'
  emit(draft, 'compaction_start', {
    triggerReason: trigger === 'auto' ? 'threshold_exceeded' : 'manual',
    contextUsedPercent: usedPercent(track.used, track.limits.point),
    contextRemainingPercent: remainingPercent(track.used, track.limits.point),
    compactionTokens: track.limits.point,
  })
}

function lacksAnswer({ record: { unsettled, cursor } }: Draft): boolean {
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

export function compactionSign(draft: Draft, sign: Exclude<Sign, 'compact-start'>, detail: SignDetail): void {
  const { record } = draft
  const old = record.compaction
  if (old === null || !belongs(draft, old, sign)) {
    if (sign !== 'boundary' && sign !== 'figure-lost' && isOvertaken(draft)) return
    begin(draft, detail.trigger ?? old?.trigger ?? 'auto')
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
  if (first) resetCycle(draft)
  // The summary comes with the end, the figures with the boundary.
  if (['compact-end', 'boundary'].every((last) => record.compaction!.seen.includes(last as Sign))) complete(draft, 'completed')
}

function belongs({ signal, record: { track } }: Draft, progress: CompactionProgress, sign: Sign): boolean {
  const happened = hasHappened(progress)
  // A figure that was known in this cycle and is lost ends this cycle, whatever ended the one before.
  if (sign === 'figure-lost') return !happened && !progress.completed
  const failed = !happened && progress.completed
  // The client tells before it goes on: what it tells after an answer of the new cycle is news.
  const wentOn = happened && track.readAt !== null && signal.at > Date.parse(track.readAt)
  return !failed && !progress.seen.includes(sign) && (sign === 'boundary' || !wentOn)
}

function resetCycle(draft: Draft): void {
  const { record } = draft
  cancelStale(draft, 'the conversation was compacted', ofSession(draft, ['context', 'silence']))
  record.compactions++
  record.track = beginCycle(record.track, draft.at, 'compaction')
  // By hand it happens between turns; by the client within one.
  record.state = record.compaction?.trigger === 'manual' ? 'idle' : 'working'
  emit(draft, 'cycle_started', { cycle: record.track.cycle, reason: 'compaction' })
  tell(draft)
}

function tell(draft: Draft): void {
  const { record } = draft
  if (!draft.enabled || record.jobId !== null) return
  const before = record.compaction?.usedBefore ?? null
  const speaker = { sessionId: record.sessionId, seatName: draft.seatName, project: record.project }
  const detail = before === null ? '' : ` (${grouped(before)} tokens before)`
  queue(
    draft,
    { category: 'compaction', mode: 'sequential', agent_text: null, user_text: compactedHereText(speaker, detail) },
    { seatId: record.seatId, sessionId: record.sessionId },
  )
  if (draft.parentSeatId) {
    const text = compactedText(speaker, detail)
    queue(
      draft,
      { category: 'compaction', mode: 'sequential', agent_text: text, user_text: text },
      { seatId: draft.parentSeatId, sessionId: null },
    )
  }
}

/** Its summariser failed. The client may have another way; if none of the other signs comes, the compaction failed with it. */
export function summariserFailed({ record }: Draft): void {
  const progress = record.compaction
  if (progress && !progress.completed) record.compaction = { ...progress, failing: true }
}

/** The transcript says that one did not come about. */
export function compactionGaveUp(draft: Draft, how: GaveUp): void {
  const { record } = draft
  const isOpen = record.compaction !== null && !record.compaction.completed && !hasHappened(record.compaction)
  // After three in a row that did not help, the client begins no other and says so: that one ends with its beginning.
  if (how === 'thrashing' && !isOpen) open(draft, 'auto')
  else if (!isOpen) return
  if (how === 'stopped') closeUnfinished(draft, 'judged')
  else complete(draft, how)
  if (record.state === 'compacting') record.state = 'idle'
}

type Outcome = 'completed' | 'failed' | 'blocked' | 'thrashing' | 'unknown'

/** The pair of events ends exactly once, with what is known by then. */
export function complete(draft: CompactionDesk, outcome: Outcome): void {
  const progress = draft.record.compaction
  if (!progress || progress.completed) return
  draft.record.compaction = { ...progress, completed: true }
  draft.parts.store.endCompaction(draft.record.sessionId, progress.startedAt)
  const { after } = progress
  const usedBefore = figureBefore(progress, draft.record.track)
  emit(draft, 'compaction_complete', {
    outcome,
    triggerReason: progress.trigger === 'auto' ? 'threshold_exceeded' : 'manual',
    ...(progress.overflow ? { overflow: true } : {}),
    summary: progress.summary,
    tokensBefore: usedBefore,
    tokensAfter: after,
    tokensSaved: usedBefore !== null && after !== null ? usedBefore - after : null,
    durationMs: progress.durationMs,
    compactionTokens: draft.record.track.limits.point,
  })
  const around = draft.parts.around()
  if (outcome === 'completed') around.recoverSecond(draft, progress.summary)
  else around.keptForNothing(draft, outcome)
}

/** What began before its last answer was written down learns of it while nothing has reset the cycle. */
function figureBefore(progress: CompactionProgress, track: Track): number | null {
  const late = progress.lacks === undefined || hasHappened(progress) ? undefined : track.seen[progress.lacks]
  return late ?? progress.usedBefore
}

/** What ending a pair needs: there may be no signal at hand. */
export type CompactionDesk = Desk & Pick<Draft, 'enabled'>

/**
 * Nothing more is awaited of a compaction. Where it happened, that is how it ended; else `judged` says why it did not, and `unknown`
 * that nobody can tell, because the client has gone.
 */
export function closeUnfinished(draft: CompactionDesk, otherwise: 'judged' | 'unknown'): void {
  const progress = draft.record.compaction
  if (!progress || progress.completed) return
  complete(draft, hasHappened(progress) ? 'completed' : otherwise === 'unknown' ? 'unknown' : whyNot(progress))
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
export function awaitsFigures({ record: { compaction, track }, at }: CompactionDesk): boolean {
  if (compaction === null || compaction.completed || !hasHappened(compaction)) return false
  return Date.parse(at) - Date.parse(track.cycleStartedAt) < FIGURES_MS
}

export function hasHappened(progress: CompactionProgress): boolean {
  return progress.seen.length > 1
}
