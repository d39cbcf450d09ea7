import type { Level, ResolvedLevel } from '../contract/level.js'
import type { Message } from '../contract/message.js'
import type { Limits, Reading } from '../contract/reading.js'
import type { Observation } from '../contract/signal.js'
import { resolveLevels } from '../policy/levels.js'
import { percentOf } from '../policy/percent.js'
import { addToPast, crossLevels, newsOf, relevel, takeReading } from '../tracker/tracker.js'
import { compactionSign } from './compactions.js'
import { type Draft, emit } from './draft.js'
import { cancelStale, ofSession } from './messages.js'

/** How long a boundary may be missing from the transcript after the client told of a compaction. */
const BOUNDARY_MS = 60_000

/**
 * Folds everything one signal brought into the climb, in the order it happened: the transcript's news, then the client's
 * own live figures.
 */
export function measure(draft: Draft, observation: Observation): Measured {
  let heard = false
  let crossed: ResolvedLevel[] = []
  const levels = placeLevels(draft, mergedLimits(draft, observation))
  const cross = (): void => {
    if (!draft.enabled) return
    const result = crossLevels(draft.record.track, levels, draft.at)
    draft.record.track = result.track
    for (const level of result.crossed) emitCrossing(draft, level)
    crossed = [...crossed, ...result.crossed]
  }
  const take = (reading: Reading): void => {
    const { track } = draft.record
    const taken = takeReading(track, reading, draft.at, { transcript: observation.cursor !== null })
    if (taken.track.cycle !== track.cycle) {
      crossed = []
      draft.record.track = { ...track, stamps: taken.track.stamps }
      compactionSign(draft, 'figure-lost', {})
      return
    }
    draft.record.track = taken.track
    heard ||= taken.outcome === 'accepted' || taken.outcome === 'confirmed'
    if (taken.outcome !== 'accepted') return
    emitReading(draft, reading)
    cross()
  }
  cross()
  for (const step of presentOf(draft, observation)) {
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
  return { crossed, heard }
}

export interface Measured {
  /** The levels reached, lowest first. */
  crossed: ResolvedLevel[]
  /** A source told the present figure, new or again. */
  heard: boolean
}

interface Step {
  answers: Reading[]
  compaction: Extract<Observation['observed'][number], { type: 'compaction' }> | null
}

/** Answers between boundaries. */
function inSteps(observation: Observation): Step[] {
  const steps: Step[] = []
  for (const item of observation.observed) {
    if (item.type === 'compaction') steps.push({ answers: [], compaction: item })
    else if (steps.at(-1)?.compaction === null) steps.at(-1)!.answers.push(item.reading)
    else steps.push({ answers: [item.reading], compaction: null })
  }
  return steps
}

/** What is new and not history: not what a reset already told of ended, nor the past of a conversation met only now. */
function presentOf(draft: Draft, observation: Observation): Step[] {
  const steps = inSteps(observation)
  const awaits = awaitsBoundary(draft)
  if (isMet(draft, observation)) {
    const past = steps.filter((step) => step.compaction !== null).length
    const last = steps.findLastIndex((step) => step.compaction !== null)
    draft.record.compactions += awaits ? Math.max(0, past - 1) : past
    return steps.slice(awaits && last >= 0 ? last : last + 1)
  }
  if (!awaits) return steps
  const boundary = steps.findIndex((step) => step.compaction !== null)
  const present = boundary < 0 ? steps.length : boundary
  const answers = steps.slice(0, present).flatMap((step) => step.answers)
  draft.record.track = addToPast(draft.record.track, answers)
  const progress = draft.record.compaction!
  const figures = answers.flatMap(({ used }) => used ?? [])
  if (figures.length > 0) draft.record.compaction = { ...progress, usedBefore: Math.max(progress.usedBefore ?? 0, ...figures) }
  return steps.slice(present)
}

/** The first look at the transcript of a conversation that began before: resumed, forked, or under way when Baton came. */
function isMet({ signal, record }: Draft, observation: Observation): boolean {
  if (observation.from?.answerId !== undefined) return false
  // A fork's transcript appears only with its first prompt.
  if (record.track.cycle === 1 && record.track.cycleReason === 'resume') return true
  const first = record.startedAt === record.seenAt
  return first && (signal.start === null || signal.start.source === 'compact')
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
  const key = keyOf(draft.policy.levels)
  if (draft.record.levelsKey !== '' && draft.record.levelsKey !== key) reconfigure(draft, draft.record.levelsKey.split('\n'))
  draft.record.levelsKey = key
  draft.record.track = relevel(draft.record.track, limits, levels)
  return levels
}

/** A policy's levels are looked at with every signal and change with the configuration only. */
const keys = new WeakMap<readonly Level[], string>()
function keyOf(levels: readonly Level[]): string {
  const known = keys.get(levels)
  if (known !== undefined) return known
  const key = levels.map(lineOf).join('\n')
  keys.set(levels, key)
  return key
}

const lineOf = ({ name, rule, mode, actions }: Level): string => [name, rule, mode, ...actions].join(' | ')

/** An alert still waiting is stale when every level it speaks of was changed; those are open again, to speak by their new rule. */
function reconfigure(draft: Draft, before: string[]): void {
  const { policy, record } = draft
  const kept = new Set(policy.levels.filter((level) => before.includes(lineOf(level))).map((level) => level.name))
  const stale = (message: Message): boolean =>
    record.track.latched.every((latch) => latch.crossedAt !== message.queued_at || !kept.has(latch.name))
  const own = ofSession(draft, ['context'])
  const cancelled = cancelStale(draft, 'the levels were reconfigured', (message) => own(message) && stale(message))
  const since = new Set(cancelled.map((message) => message.queued_at))
  record.track = { ...record.track, latched: record.track.latched.filter((latch) => !since.has(latch.crossedAt)) }
}

function emitReading(draft: Draft, reading: Reading): void {
  const { record } = draft
  const { limits, cycle } = record.track
  const used = reading.used!
  const model = record.model ?? reading.model
  const exact = reading.exact && limits.exact
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
