import type { Crossing, Level, ResolvedLevel } from '../../contract/level.js'
import type { Limits, Reading, Usage } from '../../contract/reading.js'
import type { Message } from '../../contract/records/message.js'
import type { SessionRecord } from '../../contract/records/session.js'
import type { Observation } from '../../contract/signal.js'
import { resolveLevels } from '../../policy/levels.js'
import { percentOf } from '../../policy/percent.js'
import type { Store } from '../../store/store.js'
import { addToPreviousCycle, applyReading, crossLevels, moveLevels, newAnswers } from '../../tracker/tracker.js'
import { storeCompactionSign } from '../compaction/compactions.js'
import { emit, type SignalContext } from '../context.js'
import { cancelStaleMessages, isAboutSession } from '../messages/messages.js'

/**
 * Milliseconds to wait for a compaction's boundary in the transcript after the client reported it.
 */
const BOUNDARY_MS = 60_000

/**
 * Applies all token readings of one signal to the session's record, in the order they happened.
 * New transcript entries come before the client's live readings.
 */
export function applyMeasurements(context: SignalContext, observation: Observation): Measured {
  let hasReading = false
  let crossed: Crossing[] = []
  // Answers of a session that Baton first sees now are history, in whatever order they are read.
  const met = isFirstRead(context, observation)
  const levels = placeLevels(context, mergedLimits(context, observation))
  /**
   * Checks the levels (warning thresholds).
   * `before` is the previous reading of the same cycle, null when there is none.
   */
  const cross = (before: number | null): void => {
    if (!context.enabled) return
    const { track } = context.record
    const result = crossLevels(track, levels, context.at)
    context.record.track = result.track
    for (const level of result.crossed)
      if (!track.latched.some(({ name }) => name === level.name)) emitCrossing(context, level)
    const climbed = (level: ResolvedLevel): boolean => !met && before !== null && before < level.atTokens!
    const figures = { usedTokens: track.used, usage: track.usage }
    crossed = [...crossed, ...result.crossed.map((level) => ({ ...level, ...figures, climbed: climbed(level) }))]
  }
  const take = (reading: Reading): void => {
    const { track } = context.record
    const taken = applyReading(track, reading, context.at, { transcript: observation.cursor !== null })
    if (taken.track.cycle !== track.cycle) {
      crossed = []
      context.record.track = { ...track, stamps: taken.track.stamps }
      storeCompactionSign(context, 'figure-lost', {})
      return
    }
    context.record.track = taken.track
    hasReading ||= taken.outcome === 'accepted' || taken.outcome === 'confirmed'
    if (taken.outcome !== 'accepted') return
    emitReading(context, reading)
    cross(track.used)
  }
  cross(context.record.track.used)
  for (const step of currentSteps(context, observation, met)) {
    if (step.compaction) {
      crossed = []
      const { before, after, durationMs, overflow, trigger } = step.compaction
      storeCompactionSign(context, 'boundary', { before, after, durationMs, overflow, trigger })
      continue
    }
    for (const reading of newAnswers(context.record.track, step.answers)) take(reading)
  }
  if (observation.live) take(observation.live)
  const { reading, subagent } = context.signal
  // A monitor's reading counts only if Baton's own sources gave none for this signal.
  if (reading && !subagent && !(hasReading && reading.source === 'monitor')) take(reading)
  return { crossed, hasReading }
}

interface Measured {
  /** The levels reached, lowest first. */
  crossed: Crossing[]
  /** True when a source reported the current token count, changed or not. */
  hasReading: boolean
}

interface Step {
  answers: Reading[]
  compaction: Extract<Observation['observed'][number], { type: 'compaction' }> | null
}

/** Splits the transcript's new entries at each compaction boundary. */
function splitAtCompactions(observation: Observation): Step[] {
  const steps: Step[] = []
  for (const item of observation.observed) {
    if (item.type === 'compaction') steps.push({ answers: [], compaction: item })
    else if (steps.at(-1)?.compaction === null) steps.at(-1)!.answers.push(item.reading)
    else steps.push({ answers: [item.reading], compaction: null })
  }
  return steps
}

/**
 * Returns the steps that belong to the current cycle.
 * Omits answers of a cycle that a reported compaction ended.
 * Omits the past of a session that Baton first sees now.
 */
function currentSteps(context: SignalContext, observation: Observation, met: boolean): Step[] {
  const steps = splitAtCompactions(observation)
  const awaits = awaitsBoundary(context)
  if (met) {
    const past = steps.filter((step) => step.compaction !== null).length
    const last = steps.findLastIndex((step) => step.compaction !== null)
    context.record.compactions += awaits ? Math.max(0, past - 1) : past
    return steps.slice(awaits && last >= 0 ? last : last + 1)
  }
  if (!awaits) return steps
  const boundary = steps.findIndex((step) => step.compaction !== null)
  const present = boundary < 0 ? steps.length : boundary
  const answers = steps.slice(0, present).flatMap((step) => step.answers)
  context.record.track = addToPreviousCycle(context.record.track, answers)
  const progress = context.record.compaction!
  const figures = answers.flatMap(({ used }) => used ?? [])
  if (figures.length > 0)
    context.record.compaction = { ...progress, usedBefore: Math.max(progress.usedBefore ?? 0, ...figures) }
  return steps.slice(present)
}

/**
 * True for the first read of a conversation that began earlier.
 * The session was resumed, forked, or already running when Baton was installed.
 */
function isFirstRead({ signal, record, isNew }: SignalContext, observation: Observation): boolean {
  if (observation.from?.answerId !== undefined) return false
  // A fork's transcript appears only with its first prompt.
  if (record.track.cycle === 1 && record.track.cycleReason === 'resume') return true
  return isNew && (signal.start === null || signal.start.source === 'compact')
}

function awaitsBoundary(context: SignalContext): boolean {
  const progress = context.record.compaction
  if (!progress || progress.completed || progress.seen.includes('boundary')) return false
  if (progress.seen.every((sign) => sign === 'compact-start')) return false
  return Date.parse(context.at) - Date.parse(context.record.track.cycleStartedAt) < BOUNDARY_MS
}

/**
 * Keeps limits that the client reported exactly while only derived ones follow for the model.
 */
function mergedLimits(context: SignalContext, { limits, process }: Observation): Limits {
  const known = context.record.track.limits
  // The command line of a dead process cannot be read, so the limits from it stay valid.
  if (process === null && context.record.process !== null && known.window !== null && !limits.exact) return known
  if (limits.exact || !known.exact) return limits
  return limits.window === known.window && limits.mode === known.mode ? known : limits
}

function placeLevels(context: SignalContext, limits: Limits): ResolvedLevel[] {
  const levels = resolveLevels(context.policy.levels, limits)
  const key = keyOf(context.policy.levels)
  if (context.record.levelsKey !== '' && context.record.levelsKey !== key)
    reconfigure(context, context.record.levelsKey.split('\n'))
  context.record.levelsKey = key
  context.record.track = moveLevels(context.record.track, limits, levels)
  return levels
}

/**
 * Cached keys by list of levels. They are needed with every signal and change only with settings.
 */
const keys = new WeakMap<readonly Level[], string>()
function keyOf(levels: readonly Level[]): string {
  const known = keys.get(levels)
  if (known !== undefined) return known
  const key = levels.map(levelKey).join('\n')
  keys.set(levels, key)
  return key
}

const levelKey = ({ name, rule, mode, actions }: Level): string => [name, rule, mode, ...actions].join(' | ')

/** Cancels waiting alerts whose levels were all reconfigured. These levels are reported again. */
function reconfigure(context: SignalContext, before: string[]): void {
  const { policy, record } = context
  const kept = new Set(policy.levels.filter((level) => before.includes(levelKey(level))).map((level) => level.name))
  const stale = (message: Message): boolean =>
    record.track.latched.every((latch) => latch.crossedAt !== message.queued_at || !kept.has(latch.name))
  const own = isAboutSession(context, ['context'])
  const cancelled = cancelStaleMessages(
    context,
    'the levels were reconfigured',
    (message) => own(message) && stale(message),
  )
  const since = new Set(cancelled.map((message) => message.queued_at))
  record.track = { ...record.track, latched: record.track.latched.filter((latch) => !since.has(latch.crossedAt)) }
}

function emitReading(context: SignalContext, reading: Reading): void {
  const { record } = context
  const { limits, cycle } = record.track
  const used = reading.used!
  const model = record.model ?? reading.model
  const exact = reading.exact && limits.exact
  emit(context, 'reading', {
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

function emitCrossing(context: SignalContext, level: ResolvedLevel): void {
  const { track } = context.record
  emit(context, 'level_crossed', {
    level: level.name,
    at_tokens: level.atTokens,
    used_tokens: track.used,
    compaction_percent: percentOf(track.used, track.limits.point),
    cycle: track.cycle,
  })
}

type Spent = Usage & { answers: number }

/** Stores what a session spent (tokens, cost) since its last record. Most signals spend nothing. */
export function bookSpend(store: Store, known: SessionRecord | null, now: SessionRecord, at: string): void {
  const costUsd = costGrowth(known?.costUsd ?? null, now.costUsd)
  const more = (key: keyof Spent): number => Math.max(0, now.spend[key] - (known?.spend[key] ?? 0))
  const steps = more('answers')
  const spent = {
    input: more('input'),
    output: more('output'),
    cacheCreation: more('cacheCreation'),
    cacheRead: more('cacheRead'),
  }
  if (steps === 0 && !costUsd && !Object.values(spent).some((tokens) => tokens > 0)) return
  store.addSpend({ sessionId: now.sessionId, at, model: now.model, steps, ...spent, costUsd })
}

/** Stores the tokens of a subagent. Its cost is null, as the client's session total includes it. */
export function bookSubagent(
  store: Store,
  sessionId: string,
  model: string | null,
  { answers, ...spent }: Spent,
  at: string,
): void {
  if (answers === 0 && spent.output === 0) return
  store.addSpend({ sessionId, at, model, steps: 0, ...spent, costUsd: null })
}

/**
 * Returns the growth of a client's running cost total. Null when the client reports no cost.
 * A total that falls by more than half was restarted by a new process and counts in full.
 * A smaller fall is an old total that arrived late and counts as zero.
 */
function costGrowth(known: number | null, now: number | null): number | null {
  if (now === null) return null
  if (known === null || now < known / 2) return now
  return Math.max(0, now - known)
}
