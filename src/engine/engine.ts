import type { Event } from '../contract/records/event.js'
import type { HandoffRecord } from '../contract/records/handoff.js'
import type { SessionRecord } from '../contract/records/session.js'
import { BLANK_SIGNAL, isSessionId, type RawSignal, type Signal } from '../contract/signal.js'
import { awaitsTokenCounts, closeUnfinishedCompaction, reportCompaction } from './compaction/compactions.js'
import { sessionsNeedingBrief } from './compaction/deferred-work.js'
import type { ReadFacts } from './compaction/read-facts.js'
import type { SweepLimits, SweepResult } from './compaction/sweep-transcripts.js'
import type { EngineDependencies, TakeOptions } from './context.js'
import { hasDriver, lacksDriver, lacksForkDriver, needsReadyDriver, needsWatcher } from './handoff/handoff-drivers.js'
import { rareWork } from './load-rare-work.js'
import { checkSentMessages } from './messages/deliver-to-seat.js'
import { sessionContext } from './session-context.js'
import { prepareSignal } from './signals/prepare-signal.js'
import { EMPTY_RESULT, type TakeResult, takeOpened, takePrepared } from './signals/take-signal.js'

export type EngineListener = (events: readonly Event[]) => void

/**
 * Processes signals, each in its own transaction or many in one, and then informs the listeners.
 */
export interface Engine {
  readonly deps: EngineDependencies
  take(raw: RawSignal, options: TakeOptions): TakeResult
  /** Processes a signal that was not read from an agent's format. */
  takeSignal(signal: Signal, options: TakeOptions, env?: RawSignal['env']): TakeResult
  /** A monitor's notice that a session is being compacted (see `compactions.ts`). */
  reportCompaction(sessionId: string): void
  /**
   * Processes many signals. Those of different sessions share a commit.
   * Signals of one session are processed in turn, as each decides where the next read begins.
   * A signal that fails is repeated alone, so that other signals are not lost with it.
   */
  takeAll(signals: readonly { raw: RawSignal; options: TakeOptions }[]): TakeResult[]
  /**
   * Reads the files that `takeSignal` will need in its caller's transaction.
   * Returns the results, to pass to that transaction as `ahead`.
   */
  readAhead(signal: Signal, env?: RawSignal['env']): Map<string, unknown>
  /**
   * True when the transcript already holds the entries that this signal reports. Writes nothing.
   */
  settled(raw: RawSignal): boolean
  /** Does the work that no hook has time for (see `catch-up.ts`), for as long as it takes. */
  catchUp(): void
  /** Plans archives of sessions that ended without a signal (see `sweep-transcripts.ts`). */
  planUnarchived(limits: SweepLimits): SweepResult
  /** Ends compactions whose end no signal will report. */
  endAbandoned(): void
  /** Checks handoffs whose next step no signal starts. */
  checkDueHandoffs(): void
  listen(listener: EngineListener): () => void
}

export function makeEngine(deps: EngineDependencies): Engine {
  const listeners = new Set<EngineListener>()
  const tell = (taken: readonly Pick<TakeResult, 'events'>[]): void => {
    if (listeners.size === 0) return
    const events = taken.flatMap((one) => one.events)
    if (events.length === 0) return
    for (const listener of listeners) {
      try {
        listener(events)
      } catch (error) {
        deps.log('error', 'a listener failed', { reason: String(error) })
      }
    }
  }
  const one = (raw: RawSignal, options: TakeOptions): TakeResult => {
    const signal = openOrLog(raw)
    return signal === null ? EMPTY_RESULT : takeOpened(deps, raw, signal, options)
  }
  const openOrLog = (raw: RawSignal): Signal | null => {
    const signal = openSignal(deps, raw)
    if (signal === null) deps.log('debug', 'not a signal', { agent: raw.agent, kind: raw.kind })
    return signal
  }

  return {
    deps,
    take(raw, options) {
      const taken = one(raw, options)
      tell([taken])
      return taken
    },
    readAhead(signal, env = {}) {
      const ahead = new Map<string, unknown>()
      prepareSignal(deps, { raw: rawOf(signal, env), opened: signal, options: { deliver: 'keep' } }, ahead)
      return ahead
    },
    takeSignal(signal, options, env = {}) {
      const taken = takeOpened(deps, rawOf(signal, env), signal, options)
      tell([taken])
      return taken
    },
    reportCompaction(sessionId) {
      tell([{ events: reportCompaction(deps, sessionId) }])
    },
    takeAll(signals) {
      const all = new Array<TakeResult>(signals.length).fill(EMPTY_RESULT)
      const openedSignals = signals.flatMap(({ raw, options }, at) => {
        const opened = openOrLog(raw)
        return opened === null ? [] : [{ at, raw, opened, options }]
      })
      for (const round of inRounds(openedSignals)) for (const [at, taken] of takeRound(round)) all[at] = taken
      tell(all)
      return all
    },
    settled(raw) {
      const agent = deps.agents[raw.agent]
      const signal = openSignal(deps, raw)
      if (!agent || !signal) return true
      const known = deps.store.session(signal.sessionId)
      // A compaction begins right after a tool batch whose answer the transcript may still lack.
      const lacking = signal.kind === 'compact-start' ? (known?.unsettled ?? []) : []
      const before = {
        cursor: known?.cursor ?? null,
        subagentCursors: Object.fromEntries(
          deps.store.subagents(signal.sessionId).map((s) => [s.subagentId, s.cursor]),
        ),
        model: known?.model ?? null,
        window: known?.track.limits.window ?? null,
        process: known?.process ?? null,
        liveDir: deps.liveDir,
        liveStamp: known?.track.stamps.mod ?? null,
      }
      if (lacking.length > 0) {
        const batch: Signal = { ...signal, kind: 'tool-batch', toolUseIds: lacking }
        if (!agent.observe(batch, raw, before).settled) return false
      }
      const seen = agent.observe(signal, raw, before)
      // A live token count is enough to continue, but not to archive a transcript without it.
      return seen.settled || (seen.live !== null && signal.kind !== 'compact-start')
    },
    catchUp() {
      tell([{ events: [...rereadEnded(deps), ...rareWork(deps).catchUp(deps)] }])
    },
    planUnarchived: (limits) => rareWork(deps).planUnarchived(deps, limits),
    endAbandoned() {
      tell([{ events: endAbandoned(deps) }])
    },
    checkDueHandoffs() {
      tell([{ events: [...checkDueHandoffs(deps), ...checkSentMessages(deps)] }])
    },
    listen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }

  function takeRound(round: readonly Opened[]): [at: number, taken: TakeResult][] {
    try {
      const ahead = new Map<string, unknown>()
      const prepared = deps.store.peek(() => round.map((one) => prepareSignal(deps, one, ahead)))
      return deps.store.transaction(() => prepared.map((one, n) => [round[n]!.at, takePrepared(deps, one)]), ahead)
    } catch (error) {
      deps.log('warn', 'a batch failed; its signals are taken one by one', { reason: String(error) })
      return round.map(({ at, raw, options }) => [at, alone(raw, options)])
    }
  }

  function alone(raw: RawSignal, options: TakeOptions): TakeResult {
    try {
      return one(raw, options)
    } catch (error) {
      deps.log('error', 'a signal could not be taken', { kind: raw.kind, reason: String(error) })
      return { ...EMPTY_RESULT, failed: true }
    }
  }
}

const rawOf = (signal: Signal, env: RawSignal['env']): RawSignal => ({
  agent: signal.agent,
  kind: signal.event,
  body: '',
  env,
  at: signal.at,
})

interface Opened {
  /** Index of the signal among those that arrived together. */
  at: number
  raw: RawSignal
  opened: Signal
  options: TakeOptions
}

/** Splits signals, in their order, so that no round holds two of the same session. */
function inRounds(signals: readonly Opened[]): Opened[][] {
  const rounds: Opened[][] = []
  let sessions = new Set<string>()
  for (const signal of signals) {
    const { sessionId } = signal.opened
    if (rounds.length === 0 || sessions.has(sessionId)) {
      rounds.push([])
      sessions = new Set()
    }
    rounds.at(-1)!.push(signal)
    sessions.add(sessionId)
  }
  return rounds
}

/**
 * Ends compactions whose end will not be reported.
 * The client was killed, aborted the compaction without an event, or left no token counts.
 * Commands and the server call this function without a signal. Reads the transcript first.
 */
function endAbandoned(deps: EngineDependencies): Event[] {
  return deps.store.compacting().flatMap((sessionId) => deps.store.transaction(() => endIfAbandoned(deps, sessionId)))
}

/**
 * Longest compaction. After this time the compaction counts as ended.
 * No event reports that the user stopped a compaction.
 */
const LONGEST_MS = 15 * 60_000

function endIfAbandoned(deps: EngineDependencies, sessionId: string): Event[] {
  const before = deps.store.session(sessionId)
  const agent = deps.agents[before?.agent ?? '']
  if (!before || !agent || before.compaction === null || before.compaction.completed) return []
  const isAlive = before.process === null || agent.alive(before.process)
  const signal = rereadSignal(before, deps.now().getTime(), isAlive)
  const { record, events } = takeOpened(deps, rawOf(signal, {}), signal, { deliver: 'keep' })
  if (record === null) return events
  // No signal arrived, so the time of the last one stays.
  const after = { ...record, seenAt: before.seenAt }
  const context = sessionContext(deps, agent, after, events)
  const isTold = after.compaction!.seen.includes('compact-end') && !awaitsTokenCounts(context)
  const isOld = deps.now().getTime() - Date.parse(after.compaction!.startedAt) > LONGEST_MS
  if (!isAlive || isTold || isOld) closeUnfinishedCompaction(context, 'unknown')
  if (isOld && after.state === 'compacting') after.state = 'unknown'
  deps.store.putSession(after)
  return events
}

/**
 * Reads the last steps of sessions whose brief is due. Batches far from every level send no signal,
 * so those of a killed client are not measured yet.
 */
function rereadEnded(deps: EngineDependencies): Event[] {
  return sessionsNeedingBrief(deps.store, deps.now()).flatMap((record) => {
    if (record.state !== 'ended') return []
    const signal = rereadSignal(record, deps.now().getTime(), false)
    return takeOpened(deps, rawOf(signal, {}), signal, { deliver: 'keep', again: true }).events
  })
}

/** Returns an artificial signal that only makes the engine read the transcript again. */
function rereadSignal(record: SessionRecord, at: number, isAlive: boolean): Signal {
  return {
    ...BLANK_SIGNAL,
    agent: record.agent,
    event: 'look',
    at,
    sessionId: record.sessionId,
    transcriptPath: record.transcriptPath,
    pid: isAlive ? (record.process?.pid ?? null) : null,
    limits: record.track.limits,
  }
}

/**
 * Checks handoffs whose next step no signal starts.
 * Handles those with a passed deadline and checks orders to the plugin module.
 * Starts a background process for handoffs that need typing or waiting.
 */
function checkDueHandoffs(deps: EngineDependencies): Event[] {
  const now = deps.now().toISOString()
  const due = deps.store.dueHandoffs(now)
  const ordered = deps.store.openHandoffs().filter(({ state, way }) => state === 'clearing' && way === 'mod')
  const looked = new Map([...due, ...ordered].map((handoff) => [handoff.handoffId, handoff]))
  const events = [...looked.values()].flatMap(({ handoffId, sessionId, stale }) => {
    // Read the facts before the store is locked, because reading may take a second.
    const read = stale ? rareWork(deps).readFactsForBrief(deps, sessionId) : null
    return deps.store.transaction(() => checkHandoff(deps, handoffId, now, read))
  })
  const isLeft = (handoff: HandoffRecord): boolean =>
    lacksDriver(handoff) ||
    needsWatcher(deps, handoff) ||
    lacksForkDriver(handoff) ||
    // A process that types, started by a status line, once ended before it claimed the handoff.
    // The reason is unknown. Another process is needed in any case.
    (needsReadyDriver(deps, handoff) && !hasDriver(handoff))
  if (deps.store.openHandoffs().some(isLeft)) deps.leaveWork('handoff')
  return events
}

function checkHandoff(deps: EngineDependencies, handoffId: string, now: string, read: ReadFacts | null): Event[] {
  const handoff = deps.store.handoff(handoffId)
  const record = handoff && deps.store.session(handoff.sessionId)
  const agent = record && deps.agents[record.agent]
  if (!record || !agent) return []
  const context = Object.assign(sessionContext(deps, agent, record), { read })
  if (handoff.dueAt !== null && handoff.dueAt <= now) rareWork(deps).handleDueHandoff(context, handoff)
  else rareWork(deps).checkOrder(context, handoff)
  return context.events
}

/**
 * Decodes a signal in its agent's format.
 * Null when it is no signal of that agent or its session id is invalid.
 */
function openSignal({ agents }: Pick<EngineDependencies, 'agents'>, raw: RawSignal): Signal | null {
  const signal = agents[raw.agent]?.open(raw)
  return signal && isSessionId(signal.sessionId) ? signal : null
}
