import type { CompactionProgress } from '../contract/record.js'
import { grouped } from '../policy/numbers.js'
import { remainingPercent, usedPercent } from '../policy/percent.js'
import { compactedText } from '../policy/texts.js'
import { beginCycle } from '../tracker/tracker.js'
import { type Draft, emit } from './draft.js'
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
  if (!isOvertaken(draft)) open(draft, trigger)
}

function isOvertaken({ signal, record: { track } }: Draft): boolean {
  return track.cycleReason === 'compaction' && signal.at < Date.parse(track.cycleStartedAt)
}

function open(draft: Draft, trigger: 'auto' | 'manual'): void {
  closeUnfinished(draft, 'unknown')
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
  }
  draft.record.state = 'compacting'
  emit(draft, 'compaction_start', {
    triggerReason: trigger === 'auto' ? 'threshold_exceeded' : 'manual',
    contextUsedPercent: usedPercent(track.used, track.limits.point),
    contextRemainingPercent: remainingPercent(track.used, track.limits.point),
    compactionTokens: track.limits.point,
  })
  draft.parts.around().keepBefore(draft, trigger)
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
    open(draft, detail.trigger ?? old?.trigger ?? 'auto')
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
  const happened = progress.seen.length > 1
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
  const text = compactedText(speaker, before === null ? '' : ` (${grouped(before)} tokens before)`)
  queue(
    draft,
    { category: 'compaction', mode: 'sequential', agent_text: null, user_text: text },
    { seatId: record.seatId, sessionId: record.sessionId },
  )
  if (draft.parentSeatId) {
    queue(
      draft,
      { category: 'compaction', mode: 'sequential', agent_text: text, user_text: text },
      { seatId: draft.parentSeatId, sessionId: null },
    )
  }
}

/** The pair of events ends exactly once, with what is known by then. */
export function complete(draft: Draft, outcome: 'completed' | 'failed' | 'unknown'): void {
  const progress = draft.record.compaction
  if (!progress || progress.completed) return
  draft.record.compaction = { ...progress, completed: true }
  const { usedBefore, after } = progress
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
  if (outcome === 'completed') draft.parts.around().recoverSecond(draft, progress.summary)
}

/** Work went on although a compaction had begun and none of its other signs came: it was blocked or it failed. */
export function closeUnfinished(draft: Draft, outcome: 'failed' | 'unknown'): void {
  const progress = draft.record.compaction
  if (!progress || progress.completed) return
  const happened = progress.seen.length > 1
  complete(draft, happened ? 'completed' : outcome)
}
