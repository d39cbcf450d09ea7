import type { ResolvedLevel } from '../contract/level.js'
import type { Limits, Reading } from '../contract/reading.js'
import type { Observation } from '../contract/signal.js'
import { resolveLevels } from '../policy/levels.js'
import { percentOf } from '../policy/percent.js'
import { crossLevels, newsOf, relevel, takeReading } from '../tracker/tracker.js'
import { compactionSign } from './compactions.js'
import { type Draft, emit } from './draft.js'
import { cancelStale } from './messages.js'

/** How long a boundary may be missing from the transcript after the client told of a compaction. */
const BOUNDARY_MS = 60_000

/**
 * Folds everything one signal brought into the climb, in the order it happened: the transcript's news, then the client's
 * own live figures. Returns the levels reached, lowest first.
 */
export function measure(draft: Draft, observation: Observation): ResolvedLevel[] {
  let crossed: ResolvedLevel[] = []
  const cross = (): void => {
    const levels = placeLevels(draft, mergedLimits(draft, observation))
    if (!draft.enabled) return
    const result = crossLevels(draft.record.track, levels, draft.at)
    draft.record.track = result.track
    for (const level of result.crossed) emitCrossing(draft, level)
    crossed = [...crossed, ...result.crossed]
  }
  const take = (reading: Reading): void => {
    const cycle = draft.record.track.cycle
    const taken = takeReading(draft.record.track, reading, draft.at, { transcript: observation.cursor !== null })
    draft.record.track = taken.track
    if (taken.track.cycle !== cycle) untoldReset(draft)
    if (taken.outcome !== 'accepted') return
    emitReading(draft, reading)
    cross()
  }
  cross()
  for (const step of inSteps(draft, observation)) {
    if (step.compaction) {
      crossed = []
      const { before, after, durationMs, overflow, trigger } = step.compaction
      compactionSign(draft, 'boundary', { before, after, durationMs, overflow, trigger })
      continue
    }
    for (const reading of newsOf(draft.record.track, step.answers)) take(reading)
  }
  if (observation.live) take(observation.live)
  if (draft.signal.reading && !draft.signal.subagent) take(draft.signal.reading)
  return crossed
}

interface Step {
  answers: Reading[]
  compaction: Extract<Observation['observed'][number], { type: 'compaction' }> | null
}

/** Answers between boundaries, without those that a reset already told of has made history. */
function inSteps(draft: Draft, observation: Observation): Step[] {
  const steps: Step[] = []
  for (const item of observation.observed) {
    if (item.type === 'compaction') steps.push({ answers: [], compaction: item })
    else if (steps.at(-1)?.compaction === null) steps.at(-1)!.answers.push(item.reading)
    else steps.push({ answers: [item.reading], compaction: null })
  }
  if (!awaitsBoundary(draft)) return steps
  const boundary = steps.findIndex((step) => step.compaction !== null)
  return boundary >= 0 ? steps.slice(boundary) : []
}

function awaitsBoundary(draft: Draft): boolean {
  const progress = draft.record.compaction
  if (!progress || progress.completed || progress.seen.includes('boundary')) return false
  if (progress.seen.every((sign) => sign === 'compact-start')) return false
  return Date.parse(draft.at) - Date.parse(draft.record.track.cycleStartedAt) < BOUNDARY_MS
}

/** The client's exact word stays in force while only derived figures follow for the same model. */
function mergedLimits(draft: Draft, { limits, process }: Observation): Limits {
  const known = draft.record.track.limits
  // The command line cannot be read any more once its process has gone: what it told then still holds.
  if (process === null && draft.record.process !== null && known.window !== null && !limits.exact) return known
  if (limits.exact || !known.exact) return limits
  return limits.window === known.window && limits.mode === known.mode ? known : limits
}

function placeLevels(draft: Draft, limits: Limits): ResolvedLevel[] {
  const levels = resolveLevels(draft.policy.levels, limits)
  const key = levels.map((level) => `${level.name}@${level.rule}`).join(' ')
  if (draft.record.levelsKey !== '' && draft.record.levelsKey !== key) cancelStale(draft, 'the levels were reconfigured')
  draft.record.levelsKey = key
  draft.record.track = relevel(draft.record.track, limits, levels)
  return levels
}

/** A source lost its figure and nobody told why: the alerts of the old climb are stale. */
function untoldReset(draft: Draft): void {
  cancelStale(draft, 'the conversation was reset')
  emit(draft, 'cycle_started', { cycle: draft.record.track.cycle, reason: draft.record.track.cycleReason })
}

function emitReading(draft: Draft, reading: Reading): void {
  const { record, parts } = draft
  const { limits, cycle } = record.track
  const used = reading.used!
  const model = record.model ?? reading.model
  const exact = reading.exact && limits.exact
  parts.store.addReading({
    sessionId: record.sessionId,
    cycle,
    at: draft.at,
    used,
    window: limits.window,
    point: limits.point,
    model,
    source: reading.source,
    exact,
  })
  emit(draft, 'reading', {
    used_tokens: used,
    window_tokens: limits.window,
    compaction_tokens: limits.point,
    used_percent: percentOf(used, limits.window),
    compaction_percent: percentOf(used, limits.point),
    model,
    source: reading.source,
    exact,
    cycle,
  })
}

function emitCrossing(draft: Draft, level: ResolvedLevel): void {
  const { track } = draft.record
  emit(draft, 'level_crossed', {
    level: level.name,
    at_tokens: level.atTokens,
    used_tokens: track.used,
    compaction_percent: percentOf(track.used, track.limits.point),
    cycle: track.cycle,
  })
}
