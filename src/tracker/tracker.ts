import { asksForHandoff, type ResolvedLevel } from '../contract/level.js'
import type { Limits, Reading, Source } from '../contract/reading.js'
import type { Latch, Track } from '../contract/records/session.js'

/**
 * Readings become a climb, the climb has cycles, and a cycle reaches levels.
 *
 * A cycle begins at a start, a compaction, a clear, a handoff or when Baton is switched on, and only there; a lower figure
 * alone begins nothing. From a reset until the first answer after it the figure is unknown. A level is reached once a
 * cycle: the latch is kept in the track, so it survives restarts.
 */

export type Outcome = 'accepted' | 'confirmed' | 'late' | 'unknown' | 'unvouched'

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
    before: emptySequence(),
    stamps: {},
    fresh: false,
  }
}

/** A reset: the figure is unknown, the latches are open, and what the last cycle's sources may still say is remembered. */
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

/** Answers of the cycle before that its transcript shows only now: other sources may tell them later still. */
export function addToPast(track: Track, answers: readonly Reading[]): Track {
  let before = track.before
  for (const { used } of answers) if (used !== null) before = place(before, 'transcript', used).sequence
  return { ...track, before }
}

/** Opens the latches without forgetting the figure: what `baton on` does. */
export function rearm(track: Track): Track {
  return { ...track, latched: [] }
}

/**
 * A monitor reported a compaction: levels are open again, and a figure that a monitor reported is
 * from before it.
 */
export function rearmReported(track: Track): Track {
  const opened = rearm(track)
  return track.source === 'monitor' ? { ...opened, used: null, usage: null, exact: false, source: null } : opened
}

/** A resumed process starts its clocks anew, and at first may know no figure; the conversation, and so the cycle, goes on. */
export function restartClocks(track: Track): Track {
  const { transcript } = track.reached
  return { ...track, stamps: {}, reached: transcript === undefined ? {} : { transcript } }
}

export interface Vouching {
  /** The transcript was readable: in a fresh cycle it alone may tell the first figure. */
  transcript: boolean
}

/** How long one source's figure may still be missing from another's reports. */
const AHEAD_MS = 10_000
/** How long a fresh cycle waits for the transcript: one that never shows an answer must not silence the others for good. */
const VOUCH_MS = 60_000
/** What comes with an older stamp after so long is not late: its producer's clock was set back. */
const LATEST_MS = 10 * 60_000

/** Takes one reading, or says why not. A late, repeated or unvouched reading changes neither the figure nor a latch. */
export function takeReading(
  track: Track,
  reading: Reading,
  at: string,
  vouching: Vouching,
): { track: Track; outcome: Outcome } {
  const quietMs = Date.parse(at) - Date.parse(track.readAt ?? track.cycleStartedAt)
  const lastStamp = track.stamps[reading.source]
  const older = reading.stamp !== null && lastStamp !== undefined && reading.stamp < lastStamp
  if (older && quietMs < LATEST_MS) return { track, outcome: 'late' }
  const stamps = reading.stamp === null ? track.stamps : { ...track.stamps, [reading.source]: reading.stamp }

  if (reading.used === null) return takeUnknown({ ...track, stamps }, reading, at)
  if (reading.source === 'monitor') return takeReport({ ...track, stamps }, reading.used, vouching, quietMs)
  if (reading.source !== 'transcript') {
    if (isEcho(track, reading.source, reading.used)) return { track, outcome: 'late' }
    if (track.fresh && vouching.transcript && quietMs < VOUCH_MS) return { track, outcome: 'unvouched' }
  }

  const { verdict, sequence } = place(track, reading.source, reading.used, quietMs < AHEAD_MS)
  const placed = { ...track, ...sequence, stamps }
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
 * Takes a figure that a monitor reported. It stays out of the sequence that Baton's own sources
 * form, so that no report can make one of their figures look late or repeated.
 */
function takeReport(
  track: Track,
  used: number,
  vouching: Vouching,
  quietMs: number,
): { track: Track; outcome: Outcome } {
  if (used === track.used) return { track, outcome: 'confirmed' }
  if (track.seen.includes(used) || (track.fresh && track.before.seen.includes(used))) return { track, outcome: 'late' }
  if (track.fresh && vouching.transcript && quietMs < VOUCH_MS) return { track, outcome: 'unvouched' }
  return {
    track: { ...track, used, usage: null, exact: false, source: 'monitor', answerId: null },
    outcome: 'accepted',
  }
}

/** The first a source tells in a cycle, known only from the end of the cycle before. */
function isEcho(track: Track, source: Source, used: number): boolean {
  return track.reached[source] === undefined && !track.seen.includes(used) && echoes(track.before, source, used)
}

/** A source that knew a figure and now knows none has been reset without telling: that is a new cycle too. */
function takeUnknown(track: Track, reading: Reading, at: string): { track: Track; outcome: Outcome } {
  const told = track.reached[reading.source] !== undefined
  if (!told || track.used === null) return { track, outcome: 'unknown' }
  return { track: beginCycle(track, at, 'compaction'), outcome: 'unknown' }
}

const RANK = { mod: 0, query: 1, 'status-line': 2, transcript: 3, sdk: 4, monitor: 5 } as const

/** The client's own account of its window: it knows what an answer's counts only let guess. */
const isClients = (source: Source | null): boolean => source === 'mod' || source === 'query'

/** The same answer from another source: the figure stays, its origin can only improve, and what one of them doubts is in doubt. */
function confirm(track: Track, reading: Reading): Track {
  const better = track.source === null || RANK[reading.source] < RANK[track.source]
  const sure = isClients(track.source) ? track.exact : track.exact && reading.exact
  return {
    ...track,
    source: better ? reading.source : track.source,
    exact: isClients(reading.source) ? reading.exact : sure,
    usage: track.usage ?? reading.usage,
    answerId: track.answerId ?? reading.answerId,
    model: reading.source === 'transcript' ? track.model : (reading.model ?? track.model),
    fresh: false,
  }
}

/** New limits or new levels: a latched level that moved and now lies above the figure is open again. One that stayed put is not. */
export function relevel(track: Track, limits: Limits, levels: readonly ResolvedLevel[]): Track {
  if (track.latched.length === 0) return { ...track, limits }
  const used = track.used ?? Number.POSITIVE_INFINITY
  const positions = new Map(levels.map((level) => [level.name, level.atTokens]))
  const latched = track.latched.flatMap((latch): Latch[] => {
    const now = positions.get(latch.name) ?? null
    if (now === null || now === latch.atTokens) return [latch]
    return now > used ? [] : [{ ...latch, atTokens: now }]
  })
  return { ...track, limits, latched }
}

/**
 * The levels this figure reaches for the first time in this cycle, lowest first. A level that asks
 * for a handoff and was reached by a monitor's figure is reached once more by the first figure of
 * Baton's own.
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
  const added = crossed.map((level): Latch => {
    const latch = { name: level.name, atTokens: level.atTokens!, crossedAt: at }
    return isReport && asksForHandoff(level) ? { ...latch, reported: true } : latch
  })
  const kept = track.latched.filter((latch) => !added.some(({ name }) => name === latch.name))
  return { track: { ...track, latched: [...kept, ...added] }, crossed }
}

/** The highest level reached in this cycle. */
export function currentLevel(track: Track): string | null {
  let top: Latch | null = null
  for (const latch of track.latched) if (top === null || latch.atTokens >= top.atTokens) top = latch
  return top?.name ?? null
}

/**
 * Of what the transcript newly shows, oldest first, the part that is news. Another source may already have told a later one
 * of these answers; then the ones before it are history.
 */
export function newsOf(track: Track, answers: readonly Reading[]): readonly Reading[] {
  for (let i = answers.length - 1; i > 0; i--) {
    const used = answers[i]!.used
    if (used !== null && place(track, 'transcript', used).verdict !== 'new') return answers.slice(i)
  }
  return answers
}

/** The sequence of figures all sources together have told in one cycle, and how far along it each source is. */
export interface Sequence {
  seen: number[]
  reached: Partial<Record<Source, number>>
}

type Verdict = 'new' | 'same' | 'late'

const KEEP = 16

export const emptySequence = (): Sequence => ({ seen: [], reached: {} })

/**
 * Several sources report the same answers, each skipping some and each late in its own way, and none of their clocks can
 * be compared. Every source, though, tells its figures in the order they happened. So the figures already known form one
 * sequence, each source has a place in it, and a figure found ahead of the source's place is that same answer again:
 * at the end of the sequence it is the current one, before the end it is late. A figure not found there is new; but while
 * others are `ahead`, a lower one from a source that has not caught up with them is an answer they skipped.
 */
export function place(
  sequence: Sequence,
  source: Source,
  used: number,
  ahead = false,
): { verdict: Verdict; sequence: Sequence } {
  const at = sequence.reached[source] ?? -1
  const last = sequence.seen.length - 1
  if (at >= 0 && sequence.seen[at] === used) return { verdict: at === last ? 'same' : 'late', sequence }
  const found = sequence.seen.indexOf(used, at + 1)
  if (found >= 0) return { verdict: found === last ? 'same' : 'late', sequence: move(sequence, source, found) }
  if (ahead && at < last && used < sequence.seen[last]!)
    return { verdict: 'late', sequence: insert(sequence, source, used, at + 1) }
  return { verdict: 'new', sequence: insert(sequence, source, used, last + 1) }
}

/** Whether a source that has not yet reported in the present cycle may be telling the end of the cycle before. */
export function echoes(before: Sequence, source: Source, used: number): boolean {
  const from = Math.max(0, before.reached[source] ?? 0)
  return before.seen.indexOf(used, from) >= 0
}

function move(sequence: Sequence, source: Source, index: number): Sequence {
  return { seen: sequence.seen, reached: { ...sequence.reached, [source]: index } }
}

function insert(sequence: Sequence, source: Source, used: number, index: number): Sequence {
  const all = sequence.seen.toSpliced(index, 0, used)
  const cut = Math.max(0, all.length - KEEP)
  const reached: Partial<Record<Source, number>> = {}
  for (const [name, at] of Object.entries(sequence.reached)) {
    reached[name as Source] = Math.max(-1, (at >= index ? at + 1 : at) - cut)
  }
  reached[source] = Math.max(-1, index - cut)
  return { seen: all.slice(cut), reached }
}
