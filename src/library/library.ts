import type { AnswerUsage, SdkReport } from '../agents/agent.js'
import { agentClients } from '../agents/clients.js'
import { archiveSession, archivesOf, NO_PROGRESS } from '../app/archives.js'
import { writeBriefWithoutModel } from '../app/handoffs.js'
import { loadConfig } from '../config/load-config.js'
import { DEFAULT_AGENT } from '../contract/agent-ids.js'
import type { ConfigProblem } from '../contract/policy.js'
import type { Limits } from '../contract/reading.js'
import type { Archive } from '../contract/records/archive.js'
import type { SessionRecord } from '../contract/records/session.js'
import { BLANK_SIGNAL, type RawSignal, type Signal } from '../contract/signal.js'
import type { PolicyInForce } from '../engine/context.js'
import { type App, openApp } from '../engine/open-engine.js'
import * as rareWork from '../engine/rare-work.js'
import { restartMeasurement } from '../engine/signals/reset-session.js'
import { viewBrief } from '../engine/views/brief-view.js'
import { forecastSession } from '../engine/views/forecast-session.js'
import { BatonError, EXIT, reasonOf } from '../lib/errors.js'
import { resolveLevels } from '../policy/levels.js'
import { chooseLimits, hasClient } from './choose-limits.js'
import { checkSessionId, type ResolvedOptions, resolveOptions, type TrackerOptions } from './options.js'
import type { SessionForecast, WrittenBrief } from './session-results.js'
import {
  blankState,
  reachedLevels,
  type UsageState,
  type UsageSummary,
  type UsageUpdate,
  usageStateOf,
  usageSummaryOf,
} from './usage-state.js'

/** Decoder of the messages and usage objects that callers pass, as of the default agent. */
const SDK = agentClients[DEFAULT_AGENT]!.sdk!

/**
 * Time to wait for a locked store. No client waits for the library, so many processes can queue.
 */
const BUSY_MS = 30_000

/**
 * Measures one session from any program.
 * The state is in Baton's own store, shared with hooks, commands and other processes.
 * Each call is one transaction.
 * All calls except `open` and `updateUsage` throw only BatonError, whose `hint` says what to do.
 */
export class Tracker {
  private readonly options: ResolvedOptions
  /** Output tokens counted in the running turn, by session. The turn's result includes them. */
  private readonly turnOutput = new Map<string, number>()
  private app: App | null
  private session: string

  private constructor(app: App, options: ResolvedOptions) {
    this.app = app
    this.options = options
    this.session = options.session
  }

  /**
   * Opens the store.
   * Throws a BatonError when the store is damaged, newer or read-only, and leaves it unchanged.
   * Throws RangeError for impossible numbers.
   */
  static open(options: TrackerOptions = {}): Tracker {
    const resolved = resolveOptions(options)
    return new Tracker(openApp({ env: resolved.env, loadConfig, rareWork: () => rareWork, busyMs: BUSY_MS }), resolved)
  }

  /** Session that calls refer to. `resetSession`, and `observe` with another session, change it. */
  get sessionId(): string {
    return this.session
  }

  /**
   * Records the usage of one answer.
   * The context use follows from this answer alone, and the totals grow by it.
   * Throws RangeError for a negative, fractional or infinite count.
   * Throws TypeError for a value that is no number. After an error, nothing has changed.
   */
  updateUsage(usage: AnswerUsage): UsageUpdate {
    const measured = SDK.measureAnswer(usage)
    return this.record({ sessionId: this.session, once: usage.answer_id ?? null, ...measured })
  }

  /**
   * Records a message of the Agent SDK or a line of `claude -p --output-format stream-json`.
   * Records the reply to `getContextUsage()`, too.
   * Repeated messages and messages without usage change nothing.
   */
  observe(message: unknown): UsageUpdate {
    const report = SDK.report(message, this.session, this.options.env, this.turnOutput)
    if (report === null) return { ...this.currentState(), crossed: [] }
    this.session = report.sessionId
    return this.record({ ...report, event: SDK_MESSAGE })
  }

  /**
   * Returns the highest level that the current use, or that of a given state, has reached.
   * Null when no level is reached or the use is unknown.
   * A given state is compared with the current levels.
   */
  checkThresholds(state?: UsageState): string | null {
    if (state === undefined) return this.currentState().threshold_reached
    return this.store((app) => {
      const { window_tokens: window, compaction_tokens: point, compaction_mode } = state
      const limits = { window, point, mode: compaction_mode ?? 'proactive', exact: state.exact, reason: '' }
      const { policy } = this.policyOf(app, app.store.session(state.session_id))
      return reachedLevels(state.used_tokens, resolveLevels(policy.levels, limits)).at(-1)?.name ?? null
    })
  }

  /**
   * True when the current use has reached a level that asks for a handoff.
   * Always false while the session is being compacted.
   */
  shouldAutoPause(): boolean {
    return this.currentState().auto_pause_active
  }

  /** Returns the state of the session without changing it. */
  currentState(): UsageState {
    return this.store((app) => {
      app.drain()
      return this.stateOf(app, app.store.session(this.session))
    })
  }

  usageSummary(): UsageSummary {
    return usageSummaryOf(this.currentState())
  }

  /**
   * Continues with another session.
   * If Baton knows the session, its measurement starts over.
   * Throws for a session that its own client measures.
   */
  resetSession(id: string): UsageState {
    const sessionId = checkSessionId(id)
    const known = this.store((app) => restartMeasurement(app.engine.deps, sessionId))
    this.session = sessionId
    if (known) return this.currentState()
    const { crossed, ...state } = this.record({ sessionId, kind: 'session-start', start: { source: 'startup' } })
    return state
  }

  /**
   * Archives the transcript of a session and those of its subagents.
   * Throws when archiving is off or nothing could be stored.
   * `pending` means that another process stores the same transcript.
   */
  archive(session: string = this.session): Archive {
    return this.store((app) => {
      const archives = archivesOf(app)
      try {
        const { archive, problem } = archiveSession({ app, archives, progress: NO_PROGRESS }, this.named(app, session))
        if (problem !== null && archive.status === 'failed') throw problem
        return archive
      } finally {
        archives.close()
      }
    })
  }

  /**
   * Writes a brief from the session's transcript and its repository, without a model.
   * No handoff starts. `baton handoffs use` gives the brief to a session.
   * The brief replaces the last one written in this way.
   */
  writeBrief(session: string = this.session, { reason = null }: { reason?: string | null } = {}): WrittenBrief {
    return this.store((app) => briefWithText(app, this.named(app, session), reason))
  }

  /** Returns steps and minutes until each level and compaction. */
  forecast(session: string = this.session): SessionForecast {
    return this.store((app) => {
      const record = this.named(app, session)
      return forecastSession(app.store, record, this.policyOf(app, record).policy)
    })
  }

  /** Errors of the configuration files. Until they are fixed, the last valid state applies. */
  configProblems(): ConfigProblem[] {
    return this.store(
      ({ policyOf }) =>
        policyOf({ agent: DEFAULT_AGENT, project: this.options.project, model: null, seat: null }).problems,
    )
  }

  /** Closes the store. A process that ends without closing it loses nothing. */
  close(): void {
    this.app?.close()
    this.app = null
  }

  private record(report: SdkReport): UsageUpdate {
    return this.store((app) => {
      const { record, crossed, repeated } = recordReport(app, this.options, report)
      countOutput(this.turnOutput, report, repeated)
      return { ...this.stateOf(app, record), crossed }
    })
  }

  private policyOf(app: App, record: SessionRecord | null): PolicyInForce {
    const { agent, project, model } = record ?? {
      agent: DEFAULT_AGENT,
      project: this.options.project,
      model: this.options.model,
    }
    const seat = record === null ? this.options.seat : (app.store.seat(record.seatId)?.name ?? record.seatId)
    return app.policyOf({ agent, project, model, seat })
  }

  /** Finds a session by its own or its seat's id or name. Throws when there is none. */
  private named(app: App, id: string): SessionRecord {
    app.drain()
    const record = app.find(id)
    if (record !== null) return record
    throw new BatonError(`There is no session or seat ${id}.`, 'Run baton status --all to list them.', EXIT.notFound)
  }

  private stateOf(app: App, record: SessionRecord | null): UsageState {
    const { policy } = this.policyOf(app, record)
    if (record === null) return blankState(this.session, policy.enabled)
    return usageStateOf(record, app.view(record), resolveLevels(policy.levels, record.track.limits))
  }

  private store<T>(work: (app: App) => T): T {
    if (this.app === null)
      throw new BatonError('This tracker is closed.', 'Open a new one with Tracker.open().', EXIT.usage)
    try {
      return work(this.app)
    } catch (error) {
      if (error instanceof BatonError) throw error
      throw new BatonError(
        `The store ${this.app.home.store} could not be used (${reasonOf(error)}).`,
        'Run baton doctor to find the cause.',
      )
    }
  }
}

/**
 * Counts the output tokens of the running turn: an answer adds to them, a result ends the count.
 */
function countOutput(turnOutput: Map<string, number>, report: SdkReport, repeated: boolean): void {
  const { kind, sessionId, spend } = report
  if (kind === 'turn-end' || kind === 'turn-failed') turnOutput.delete(sessionId)
  else if (spend && !repeated) turnOutput.set(sessionId, (turnOutput.get(sessionId) ?? 0) + spend.output)
}

/** Writes a brief as the user, also without a transcript, and returns it with its text. */
function briefWithText(app: App, record: SessionRecord, reason: string | null): WrittenBrief {
  const asked = { caller: null, reason: reason ?? 'A program requested it.', mayBeEmpty: true }
  const brief = writeBriefWithoutModel(app, record, asked)
  const text = app.engine.deps.sources().keeper.read(brief)
  if (text !== null) return { ...viewBrief(brief), text }
  throw new BatonError(`The text of ${brief.briefId} is missing (${brief.path}).`, 'Write the brief again.')
}

interface RecordedReport {
  record: SessionRecord | null
  /** Levels (warning thresholds) reached by this call, lowest first. */
  crossed: string[]
  /** True when the report was recorded before and changed nothing. */
  repeated: boolean
}

/** Event of signals that are made from the client's own messages. */
const SDK_MESSAGE = 'sdk-message'

/** Records a report in one transaction, in which the session is read and written. */
function recordReport(app: App, options: ResolvedOptions, report: SdkReport): RecordedReport {
  // Read files before the store is locked, with the session's current record.
  const before = app.store.session(report.sessionId)
  const guess = signalOf(app, options, report, before)
  return app.store.transaction(() => {
    const known = app.store.session(report.sessionId)
    const signal = JSON.stringify(known) === JSON.stringify(before) ? guess : signalOf(app, options, report, known)
    const taken = app.engine.takeSignal(signal, {
      deliver: 'keep',
      ...(report.once ? { signalId: `sdk:${report.sessionId}:${report.once}` } : {}),
    })
    const crossed = taken.events
      .filter((event) => event.type === 'level_crossed')
      .map((event) => String(event.data.level))
    return { record: taken.record ?? known, crossed, repeated: taken.repeated }
  }, app.engine.readAhead(guess))
}

function signalOf(
  app: App,
  options: ResolvedOptions,
  { once, windowOf, ...report }: SdkReport,
  known: SessionRecord | null,
): Signal {
  const at = app.now().getTime()
  const model = modelOf(options, report, known)
  const signal: Signal = {
    ...BLANK_SIGNAL,
    agent: known?.agent ?? DEFAULT_AGENT,
    event: 'library',
    at,
    cwd: known === null ? options.project : null,
    project: known?.project ?? options.project,
    transcriptPath: known?.transcriptPath ?? null,
    seat: options.seat,
    ...report,
    model,
    window: options.window ?? windowOf?.(model) ?? null,
  }
  // The client's own hooks report turns and compactions. Reported here too, they would count twice.
  const plain: Signal =
    known !== null && hasClient(known) ? { ...signal, kind: 'other', compaction: null, start: null } : signal
  return { ...plain, limits: report.limits ?? limitsOf(app, options, plain, known) }
}

/** Returns the model. The model that the client reported outranks the caller's. */
function modelOf(options: ResolvedOptions, report: Partial<Signal>, known: SessionRecord | null): string | null {
  const reported = known !== null && (report.event === SDK_MESSAGE || hasClient(known)) ? known.model : null
  return report.model ?? reported ?? options.model ?? known?.model ?? report.reading?.model ?? null
}

function limitsOf(app: App, options: ResolvedOptions, signal: Signal, record: SessionRecord | null): Limits {
  const { window = null, model } = signal
  const used = signal.reading?.used ?? null
  return chooseLimits({
    window,
    compaction: options.compaction,
    record,
    model,
    used,
    derive: () => derive(app, options, signal, record),
  })
}

/** Derives limits through the agent's adapter, from settings and environment alone. */
function derive(app: App, options: ResolvedOptions, signal: Signal, record: SessionRecord | null): Limits {
  const { agents, liveDir } = app.engine.deps
  const agent = agents[signal.agent]!
  const env: Record<string, string> = {}
  for (const name of agent.environment) if (options.env[name]) env[name] = options.env[name]
  const raw: RawSignal = { agent: signal.agent, kind: signal.event, body: '', env, at: signal.at }
  const window = record?.track.limits.window ?? null
  const known = { cursor: null, subagentCursors: {}, model: record?.model ?? null, window, process: null, liveDir }
  return app.store.readUnlocked(`limits ${signal.sessionId} ${JSON.stringify(known)}`, () => {
    return agent.observe({ ...signal, transcriptPath: null }, raw, known).limits
  })
}
