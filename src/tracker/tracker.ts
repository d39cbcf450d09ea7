import { asksForHandoff, type ResolvedLevel } from '../contract/level.js'
import type { Limits, Reading, ReadingSource } from '../contract/reading.js'
import type { CrossedLevel, Track } from '../contract/records/session.js'
import { holdGrowth } from './forecast.js'

/**
 * Tracks the token counts of a session in cycles, and finds the levels that a cycle crosses.
 * A level is a warning threshold.
 *
 * A cycle begins at a start, a compaction, a clear, a handoff or when Baton is switched on.
 * A lower token count alone begins no cycle.
 * From the beginning of a cycle until its first answer, the token count is unknown.
 * A level is crossed once per cycle, unless `reopenLevels` or `moveLevels` reopens it.
 * Crossed levels are part of the track, which is stored, so they survive restarts.
 */

/**
 * Result of a reading (a reported token count):
 *
 * accepted   the count is new
 * confirmed  another source reported the current count
 * late       the count belongs to an answer before the current one
 * unknown    the source knows no count
 * unvouched  the count is ignored until the transcript shows the answer
 */
export type ReadingOutcome = 'accepted' | 'confirmed' | 'late' | 'unknown' | 'unvouched'

export const NO_LIMITS: Limits = { window: null, point: null, mode: 'proactive', exact: false, reason: 'not known yet' }

export function startTrack(at: string, reason: Track['cycleReason']): Track {
  return {
    cycle: 1,
    cycleStartedAt: at,
    cycleReason: reason,
    used: null,
    usage: null,
    exact: false,
    source: null,
    model: null,
    answerId: null,
    readAt: null,
    base: null,
    limits: NO_LIMITS,
    latched: [],
    ...emptySequence(),
    perStep: null,
    before: emptySequence(),
    stamps: {},
    fresh: false,
  }
}

/**
 * Begins a new cycle: the token count is unknown and every level can be crossed.
 * The last readings are kept to recognise reports that arrive late.
 */
export function beginCycle(track: Track, at: string, reason: Track['cycleReason']): Track {
  return {
    ...startTrack(at, reason),
    cycle: track.cycle + 1,
    limits: track.limits,
    model: track.model,
    stamps: track.stamps,
    before: { seen: track.seen, reached: track.reached },
    fresh: true,
  }
}

/**
 * Adds answers of the previous cycle that the transcript shows only now.
 * With them, later reports of the same answers by other sources are recognised.
 */
export function addToPreviousCycle(track: Track, answers: readonly Reading[]): Track {
  let before = track.before
  for (const { used } of answers) if (used !== null) before = placeReading(before, 'transcript', used).sequence
  return { ...track, before }
}

/** Lets every level be crossed again and keeps the token count, as `baton on` does. */
export function reopenLevels(track: Track): Track {
  return { ...track, latched: [] }
}

/**
 * Lets every level be crossed again after a monitor reported a compaction.
 * A token count from a monitor is dropped, because it is from before the compaction.
 */
export function reopenAfterReport(track: Track): Track {
  const opened = reopenLevels(track)
  return track.source === 'monitor' ? { ...opened, used: null, usage: null, exact: false, source: null } : opened
}

/**
 * Forgets the clocks of a resumed process, which starts its clocks anew.
 * The conversation continues, and so does the cycle.
 */
export function resetSourceClocks(track: Track): Track {
  const { transcript } = track.reached
  return { ...track, stamps: {}, reached: transcript === undefined ? {} : { transcript } }
}

/** Sources that could be read when a reading was taken. */
interface ReadableSources {
  /**
   * True when the transcript was readable. Only the transcript may report a cycle's first number.
   */
  transcript: boolean
}

/** Time by which another source may be later than one that already reported a token count. */
const AHEAD_MS = 10_000
/**
 * Time for which a new cycle waits for the transcript.
 * A transcript that never shows an answer must not silence the other sources for good.
 */
const VOUCH_MS = 60_000
/** Time difference after which an older stamp means that the producer's clock was set back. */
const LATEST_MS = 10 * 60_000

/**
 * Applies a reading (a reported token count), or says why it was ignored.
 * A late, repeated or unvouched reading changes neither the token count nor the crossed levels.
 */
export function applyReading(
  track: Track,
  reading: Reading,
  at: string,
  readable: ReadableSources,
): { track: Track; outcome: ReadingOutcome } {
  const quietMs = Date.parse(at) - Date.parse(track.readAt ?? track.cycleStartedAt)
  const lastStamp = track.stamps[reading.source]
  const older = reading.stamp !== null && lastStamp !== undefined && reading.stamp < lastStamp
  if (older && quietMs < LATEST_MS) return { track, outcome: 'late' }
  const stamps = reading.stamp === null ? track.stamps : { ...track.stamps, [reading.source]: reading.stamp }

  if (reading.used === null) return applyUnknown({ ...track, stamps }, reading, at)
  if (reading.source === 'monitor') return applyReport({ ...track, stamps }, reading.used, readable, quietMs)
  if (reading.source !== 'transcript') {
    if (repeatsPreviousCycle(track, reading.source, reading.used)) return { track, outcome: 'late' }
    if (track.fresh && readable.transcript && quietMs < VOUCH_MS) return { track, outcome: 'unvouched' }
  }

  const { verdict, sequence } = placeReading(track, reading.source, reading.used, quietMs < AHEAD_MS)
  const isLonger = sequence.seen !== track.seen
  const perStep = isLonger ? holdGrowth(sequence.seen, track.perStep) : track.perStep
  const placed = { ...track, ...sequence, perStep, stamps }
  if (verdict === 'late') return { track: placed, outcome: 'late' }
  if (verdict === 'same' && track.source !== 'monitor') return { track: confirm(placed, reading), outcome: 'confirmed' }
  return {
    outcome: 'accepted',
    track: {
      ...placed,
      used: reading.used,
      usage: reading.usage,
      exact: reading.exact,
      source: reading.source,
      model: reading.model ?? track.model,
      answerId: reading.answerId,
      readAt: at,
      base: track.base ?? reading.used,
      fresh: false,
    },
  }
}

/**
 * Applies a token count that a monitor reported.
 * The count stays out of the sequence of Baton's own sources.
 * No report can thus make one of their readings look late or repeated.
 */
function applyReport(
  track: Track,
  used: number,
  readable: ReadableSources,
  quietMs: number,
): { track: Track; outcome: ReadingOutcome } {
  if (used === track.used) return { track, outcome: 'confirmed' }
  if (track.seen.includes(used) || (track.fresh && track.before.seen.includes(used))) return { track, outcome: 'late' }
  if (track.fresh && readable.transcript && quietMs < VOUCH_MS) return { track, outcome: 'unvouched' }
  return {
    track: { ...track, used, usage: null, exact: false, source: 'monitor', answerId: null },
    outcome: 'accepted',
  }
}

/**
 * Returns true for a source's first report in a cycle that repeats the end of the previous cycle.
 */
function repeatsPreviousCycle(track: Track, source: ReadingSource, used: number): boolean {
  return (
    track.reached[source] === undefined && !track.seen.includes(used) && isFromPreviousCycle(track.before, source, used)
  )
}

/**
 * Handles a source that knows no token count.
 * If the source knew one before, the client was cleared unnoticed, so a new cycle begins.
 */
function applyUnknown(track: Track, reading: Reading, at: string): { track: Track; outcome: ReadingOutcome } {
  const told = track.reached[reading.source] !== undefined
  if (!told || track.used === null) return { track, outcome: 'unknown' }
  return { track: beginCycle(track, at, 'compaction'), outcome: 'unknown' }
}

const RANK = { mod: 0, query: 1, 'status-line': 2, transcript: 3, sdk: 4, monitor: 5 } as const

/**
 * Returns true for the client's own report about its context, which is exact.
 * The token counts of an answer only allow an estimate.
 */
const isClientReport = (source: ReadingSource | null): boolean => source === 'mod' || source === 'query'

/**
 * Records the same answer from another source.
 * The token count stays, and its origin can only improve.
 * The count is exact only if both sources say so.
 */
function confirm(track: Track, reading: Reading): Track {
  const better = track.source === null || RANK[reading.source] < RANK[track.source]
  const sure = isClientReport(track.source) ? track.exact : track.exact && reading.exact
  return {
    ...track,
    source: better ? reading.source : track.source,
    exact: isClientReport(reading.source) ? reading.exact : sure,
    usage: track.usage ?? reading.usage,
    answerId: track.answerId ?? reading.answerId,
    model: reading.source === 'transcript' ? track.model : (reading.model ?? track.model),
    fresh: false,
  }
}

/**
 * Applies new limits and levels.
 * A crossed level that moved above the token count can be crossed again. Others stay crossed.
 */
export function moveLevels(track: Track, limits: Limits, levels: readonly ResolvedLevel[]): Track {
  if (track.latched.length === 0) return { ...track, limits }
  const used = track.used ?? Number.POSITIVE_INFINITY
  const positions = new Map(levels.map((level) => [level.name, level.atTokens]))
  const latched = track.latched.flatMap((latch): CrossedLevel[] => {
    const now = positions.get(latch.name) ?? null
    if (now === null || now === latch.atTokens) return [latch]
    return now > used ? [] : [{ ...latch, atTokens: now }]
  })
  return { ...track, limits, latched }
}

/**
 * Returns the levels that the token count has reached and that are not yet marked as crossed.
 * The levels are ordered lowest first, and the returned track marks them as crossed.
 * A handoff level that a monitor's count crossed is crossed again by Baton's own reading.
 */
export function crossLevels(
  track: Track,
  levels: readonly ResolvedLevel[],
  at: string,
): { track: Track; crossed: ResolvedLevel[] } {
  const used = track.used
  if (used === null) return { track, crossed: [] }
  const isReport = track.source === 'monitor'
  const latched = new Set(track.latched.filter((latch) => isReport || !latch.reported).map((latch) => latch.name))
  const crossed = levels
    .filter((level) => level.atTokens !== null && used >= level.atTokens && !latched.has(level.name))
    .sort((a, b) => a.atTokens! - b.atTokens!)
  if (crossed.length === 0) return { track, crossed }
  const added = crossed.map((level): CrossedLevel => {
    const latch = { name: level.name, atTokens: level.atTokens!, crossedAt: at }
    return isReport && asksForHandoff(level) ? { ...latch, reported: true } : latch
  })
  const kept = track.latched.filter((latch) => !added.some(({ name }) => name === latch.name))
  return { track: { ...track, latched: [...kept, ...added] }, crossed }
}

/** Returns the highest level crossed in this cycle. Null when there is none. */
export function currentLevel(track: Track): string | null {
  let top: CrossedLevel | null = null
  for (const latch of track.latched) if (top === null || latch.atTokens >= top.atTokens) top = latch
  return top?.name ?? null
}

/**
 * Returns the new part of the answers that the transcript shows, oldest first.
 * If another source already reported one of the answers, those before it are history.
 */
export function newAnswers(track: Track, answers: readonly Reading[]): readonly Reading[] {
  for (let i = answers.length - 1; i > 0; i--) {
    const used = answers[i]!.used
    if (used !== null && placeReading(track, 'transcript', used).verdict !== 'new') return answers.slice(i)
  }
  return answers
}

/** The token counts that all sources reported in one cycle, and the position of each source. */
export interface AnswerSequence {
  seen: number[]
  reached: Partial<Record<ReadingSource, number>>
}

type Verdict = 'new' | 'same' | 'late'

const KEEP = 16

export const emptySequence = (): AnswerSequence => ({ seen: [], reached: {} })

/**
 * Finds the position of a reported token count in the sequence.
 *
 * Several sources report the same answers. Each source skips some, and each is late in its own way.
 * The clocks of the sources cannot be compared.
 * But every source reports in the order in which the answers happened.
 * All known counts therefore form one sequence in which every source has a position:
 *
 * - A count found ahead of the source's position is that answer again.
 * - Such a count is `same` at the end of the sequence, and `late` before the end.
 * - A count that is not found is `new`.
 * - Exception: a lower count from a source that is behind other sources (`ahead`) is `late`.
 * - Such a count belongs to an answer that the other sources skipped.
 */
export function placeReading(
  sequence: AnswerSequence,
  source: ReadingSource,
  used: number,
  ahead = false,
): { verdict: Verdict; sequence: AnswerSequence } {
  const at = sequence.reached[source] ?? -1
  const last = sequence.seen.length - 1
  if (at >= 0 && sequence.seen[at] === used) return { verdict: at === last ? 'same' : 'late', sequence }
  const found = sequence.seen.indexOf(used, at + 1)
  if (found >= 0) return { verdict: found === last ? 'same' : 'late', sequence: move(sequence, source, found) }
  if (ahead && at < last && used < sequence.seen[last]!)
    return { verdict: 'late', sequence: insert(sequence, source, used, at + 1) }
  return { verdict: 'new', sequence: insert(sequence, source, used, last + 1) }
}

/** Returns true for a source's first report in a cycle that repeats the end of the previous one. */
export function isFromPreviousCycle(before: AnswerSequence, source: ReadingSource, used: number): boolean {
  const from = Math.max(0, before.reached[source] ?? 0)
  return before.seen.indexOf(used, from) >= 0
}

function move(sequence: AnswerSequence, source: ReadingSource, index: number): AnswerSequence {
  return { seen: sequence.seen, reached: { ...sequence.reached, [source]: index } }
}

function insert(sequence: AnswerSequence, source: ReadingSource, used: number, index: number): AnswerSequence {
  const all = sequence.seen.toSpliced(index, 0, used)
  const cut = Math.max(0, all.length - KEEP)
  const reached: Partial<Record<ReadingSource, number>> = {}
  for (const [name, at] of Object.entries(sequence.reached)) {
    reached[name as ReadingSource] = Math.max(-1, (at >= index ? at + 1 : at) - cut)
  }
  reached[source] = Math.max(-1, index - cut)
  return { seen: all.slice(cut), reached }
}
