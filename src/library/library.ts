import type { AnswerUsage, SdkReport } from '../agents/agent.js'
import { clients } from '../agents/clients.js'
import { archivesOf, finishArchives } from '../app/archives.js'
import { loadConfig } from '../config/load-config.js'
import { DEFAULT_AGENT } from '../contract/agent-ids.js'
import type { ConfigProblem } from '../contract/policy.js'
import type { Limits } from '../contract/reading.js'
import type { Archive } from '../contract/records/archive.js'
import type { SessionRecord } from '../contract/records/session.js'
import { BLANK_SIGNAL, type RawSignal, type Signal } from '../contract/signal.js'
import { briefMaterial, factsOf } from '../engine/compaction/brief-sources.js'
import type { PolicyInForce } from '../engine/context.js'
import { keepOwnBrief } from '../engine/handoff/make-brief.js'
import { type App, openApp } from '../engine/open-engine.js'
import * as rareWork from '../engine/rare-work.js'
import { sessionContext } from '../engine/session-context.js'
import { resetSession } from '../engine/signals/reset-session.js'
import { viewBrief } from '../engine/views/brief-view.js'
import { forecastSession } from '../engine/views/forecast-session.js'
import { BatonError, EXIT, reasonOf } from '../lib/errors.js'
import { resolveLevels } from '../policy/levels.js'
import { chooseLimits, isClients } from './choose-limits.js'
import { checkId, type Settled, settleOptions, type TrackerOptions } from './options.js'
import type { SessionForecast, WrittenBrief } from './session-results.js'
import {
  blankState,
  reached,
  stateOf,
  summaryOf,
  type UsageState,
  type UsageSummary,
  type UsageUpdate,
} from './usage-state.js'

/** The messages and usage objects that callers of the library hold are the default agent's. */
const SDK = clients[DEFAULT_AGENT]!.sdk!

/** No client waits for the library, so it may wait for others: twenty processes at once all get their turn. */
const BUSY_MS = 30_000

/**
 * Measures one session from any program. The state is Baton's own store, shared with its hooks, its commands and every other
 * process: each call is one transaction there. Every call but `open` and `updateUsage` throws only a BatonError, whose `hint`
 * says what to do.
 */
export class Tracker {
  private readonly settled: Settled
  /** Output that answers of the running turns were counted with so far, by session: a turn's result has all of it. */
  private readonly counted = new Map<string, number>()
  private app: App | null
  private session: string

  private constructor(app: App, settled: Settled) {
    this.app = app
    this.settled = settled
    this.session = settled.session
  }

  /** Throws a BatonError when the store is damaged, newer or not to be written (it stays as it is), RangeError for impossible figures. */
  static open(options: TrackerOptions = {}): Tracker {
    const settled = settleOptions(options)
    return new Tracker(openApp({ env: settled.env, loadConfig, rareWork: () => rareWork, busyMs: BUSY_MS }), settled)
  }

  /** The session the calls speak of. `resetSession` changes it, and so does a message of another session given to `observe`. */
  get sessionId(): string {
    return this.session
  }

  /**
   * Tells one answer's usage. How full the session is follows from this answer alone; the totals grow by it.
   * Throws RangeError for a negative, fractional or endless count, TypeError for what is no count; then nothing has changed.
   */
  updateUsage(usage: AnswerUsage): UsageUpdate {
    const measured = SDK.measureAnswer(usage)
    return this.tell({ sessionId: this.session, once: usage.answer_id ?? null, ...measured })
  }

  /**
   * Tells a message of the Agent SDK (or a line of `claude -p --output-format stream-json`), or the reply to its
   * `getContextUsage()`. Messages that measure nothing change nothing, and so do those told before.
   */
  observe(message: unknown): UsageUpdate {
    const told = SDK.report(message, this.session, this.settled.env, this.counted)
    if (told === null) return { ...this.currentState(), crossed: [] }
    this.session = told.sessionId
    return this.tell({ ...told, event: SDK_MESSAGE })
  }

  /**
   * The highest level that the present figure, or that of a given state, has reached. Null when it has
   * reached none or is not known. A given state is held against the levels in force now.
   */
  checkThresholds(state?: UsageState): string | null {
    if (state === undefined) return this.currentState().threshold_reached
    return this.store((app) => {
      const { window_tokens: window, compaction_tokens: point, compaction_mode } = state
      const limits = { window, point, mode: compaction_mode ?? 'proactive', exact: state.exact, reason: '' }
      const { policy } = this.policyOf(app, app.store.session(state.session_id))
      return reached(state.used_tokens, resolveLevels(policy.levels, limits)).at(-1)?.name ?? null
    })
  }

  /**
   * Whether the present figure has reached a level that asks for a handoff. Always false while the
   * session is compacted.
   */
  shouldAutoPause(): boolean {
    return this.currentState().auto_pause_active
  }

  /** Looks, changes nothing. */
  currentState(): UsageState {
    return this.store((app) => {
      app.drain()
      return this.stateOf(app, app.store.session(this.session))
    })
  }

  usageSummary(): UsageSummary {
    return summaryOf(this.currentState())
  }

  /** Goes on with another session, from nothing. An id that was used before starts over, unless its client measures it itself. */
  resetSession(id: string): UsageState {
    const sessionId = checkId(id)
    const known = this.store((app) => resetSession(app.engine.deps, sessionId))
    this.session = sessionId
    if (known) return this.currentState()
    const { crossed, ...state } = this.tell({ sessionId, kind: 'session-start', start: { source: 'startup' } })
    return state
  }

  /**
   * Archives the transcript of a session, its subagents' included. Throws when archiving is turned off or
   * nothing could be stored. The status is `pending` while another process stores the same transcript.
   */
  archive(session: string = this.session): Archive {
    return this.store((app) => archiveNow(app, this.named(app, session)))
  }

  /**
   * Writes a brief from the session's transcript and its repository, without a model. It starts no
   * handoff; `baton handoffs use` gives it to a session. It replaces the last brief written this way.
   */
  writeBrief(session: string = this.session, { reason = null }: { reason?: string | null } = {}): WrittenBrief {
    return this.store((app) => writeBriefNow(app, this.named(app, session), reason))
  }

  /** Steps and minutes to each level and to compaction. */
  forecast(session: string = this.session): SessionForecast {
    return this.store((app) => {
      const record = this.named(app, session)
      return forecastSession(app.store, record, this.policyOf(app, record).policy)
    })
  }

  /** What is wrong with the configuration files, which is why an earlier state of them, or the defaults, apply. */
  configProblems(): ConfigProblem[] {
    return this.store(
      ({ policyOf }) =>
        policyOf({ agent: DEFAULT_AGENT, project: this.settled.project, model: null, seat: null }).problems,
    )
  }

  /** Gives up the store. A process that ends without it loses nothing. */
  close(): void {
    this.app?.close()
    this.app = null
  }

  private tell(told: SdkReport): UsageUpdate {
    return this.store((app) => {
      const { record, crossed, repeated } = tellEngine(app, this.settled, told)
      count(this.counted, told, repeated)
      return { ...this.stateOf(app, record), crossed }
    })
  }

  private policyOf(app: App, record: SessionRecord | null): PolicyInForce {
    const { agent, project, model } = record ?? {
      agent: DEFAULT_AGENT,
      project: this.settled.project,
      model: this.settled.model,
    }
    const seat = record === null ? this.settled.seat : (app.store.seat(record.seatId)?.name ?? record.seatId)
    return app.policyOf({ agent, project, model, seat })
  }

  /** Throws when no session and no seat has this id or name. */
  private named(app: App, id: string): SessionRecord {
    app.drain()
    const record = app.find(id)
    if (record !== null) return record
    throw new BatonError(`No session or seat ${id}`, 'baton status --all lists them', EXIT.notFound)
  }

  private stateOf(app: App, record: SessionRecord | null): UsageState {
    const { policy } = this.policyOf(app, record)
    if (record === null) return blankState(this.session, policy.enabled)
    return stateOf(record, app.view(record), resolveLevels(policy.levels, record.track.limits))
  }

  private store<T>(work: (app: App) => T): T {
    if (this.app === null)
      throw new BatonError('This tracker is closed.', 'Open another one with Tracker.open().', EXIT.usage)
    try {
      return work(this.app)
    } catch (error) {
      if (error instanceof BatonError) throw error
      throw new BatonError(
        `The store ${this.app.home.store} could not be used (${reasonOf(error)}).`,
        'Run baton doctor to see what is wrong.',
      )
    }
  }
}

/** Keeps the count of the running turn: an answer adds to it, a result ends it. */
function count(counted: Map<string, number>, told: SdkReport, repeated: boolean): void {
  if (told.kind === 'turn-end' || told.kind === 'turn-failed') counted.delete(told.sessionId)
  else if (told.spend && !repeated) counted.set(told.sessionId, (counted.get(told.sessionId) ?? 0) + told.spend.output)
}

/**
 * Archives a session's transcript. Throws a BatonError when archiving is turned off or the bytes
 * could not be stored.
 */
function archiveNow(app: App, record: SessionRecord): Archive {
  const { sessionId, agent, project, model, transcriptPath: transcript } = record
  const seat = app.store.seat(record.seatId)?.name ?? record.seatId
  if (!app.policyOf({ agent, project, model, seat }).policy.archive.enabled)
    throw new BatonError(
      'Archiving is turned off here (archive.enabled).',
      'baton config explain says where.',
      EXIT.refused,
    )
  const planned = app.store.transaction(() =>
    app.planArchive({ sessionId, agent, project, trigger: 'request', transcript }),
  )
  if (planned === null)
    throw new BatonError(
      `Session ${sessionId} has no transcript.`,
      'Only sessions of a client have one.',
      EXIT.notFound,
    )
  const archives = archivesOf(app)
  try {
    finishArchives(app, archives)
    const stored = app.store.archive(planned.archiveId)
    const archive = stored && archives.view([stored])[0]
    if (archive && archive.status !== 'failed') return archive
    throw new BatonError(
      `${planned.archiveId} was not stored: ${archive?.reason ?? 'it was forgotten meanwhile'}.`,
      'baton doctor says what is wrong.',
    )
  } finally {
    archives.close()
  }
}

/** Facts are read before the store is locked, however long the transcript is. */
function writeBriefNow(app: App, { sessionId }: SessionRecord, reason: string | null): WrittenBrief {
  const { store, engine } = app
  const { deps } = engine
  const before = store.session(sessionId)!
  const material = briefMaterial({ deps, record: before, read: factsOf(deps, before) })
  const brief = store.transaction(() => {
    const record = store.session(sessionId)!
    const context = sessionContext(deps, deps.agents[record.agent]!, record)
    return keepOwnBrief(context, material, { reason: reason ?? 'A program asked for it.' })
  })
  const text = deps.sources().keeper.read(brief)
  if (text !== null) return { ...viewBrief(brief), text }
  throw new BatonError(`The text of ${brief.briefId} is gone (${brief.path}).`, 'Write the brief again.')
}

interface Heard {
  record: SessionRecord | null
  /** Levels reached by this very call, lowest first. */
  crossed: string[]
  /** It had been told before, and changed nothing. */
  repeated: boolean
}

/** The event of what the client's own messages say. */
const SDK_MESSAGE = 'sdk-message'

/** One call, one transaction: what the session is known by is read and the engine's answer is written without a gap. */
function tellEngine(app: App, settled: Settled, told: SdkReport): Heard {
  // Files are read before the store is locked, for the session as it is known now.
  const before = app.store.session(told.sessionId)
  const guess = signalOf(app, settled, told, before)
  return app.store.transaction(() => {
    const known = app.store.session(told.sessionId)
    const signal = JSON.stringify(known) === JSON.stringify(before) ? guess : signalOf(app, settled, told, known)
    const taken = app.engine.takeSignal(signal, {
      deliver: 'keep',
      ...(told.once ? { signalId: `sdk:${told.sessionId}:${told.once}` } : {}),
    })
    const crossed = taken.events
      .filter((event) => event.type === 'level_crossed')
      .map((event) => String(event.data.level))
    return { record: taken.record ?? known, crossed, repeated: taken.repeated }
  }, app.engine.readAhead(guess))
}

function signalOf(
  app: App,
  settled: Settled,
  { once, windowOf, ...told }: SdkReport,
  known: SessionRecord | null,
): Signal {
  const at = app.now().getTime()
  const model = modelOf(settled, told, known)
  const signal: Signal = {
    ...BLANK_SIGNAL,
    agent: known?.agent ?? DEFAULT_AGENT,
    event: 'library',
    at,
    cwd: known === null ? settled.project : null,
    project: known?.project ?? settled.project,
    transcriptPath: known?.transcriptPath ?? null,
    seat: settled.seat,
    ...told,
    model,
    window: settled.window ?? windowOf?.(model) ?? null,
  }
  // The client's own hooks tell its turns and compactions; told twice they would count twice.
  const plain: Signal =
    known !== null && isClients(known) ? { ...signal, kind: 'other', compaction: null, start: null } : signal
  return { ...plain, limits: told.limits ?? limitsOf(app, settled, plain, known) }
}

/** What the client itself said of its model outranks what the caller took it for. */
function modelOf(settled: Settled, told: Partial<Signal>, known: SessionRecord | null): string | null {
  const said = known !== null && (told.event === SDK_MESSAGE || isClients(known)) ? known.model : null
  return told.model ?? said ?? settled.model ?? known?.model ?? told.reading?.model ?? null
}

function limitsOf(app: App, settled: Settled, signal: Signal, record: SessionRecord | null): Limits {
  const { window = null, model } = signal
  const used = signal.reading?.used ?? null
  return chooseLimits({
    window,
    compaction: settled.compaction,
    record,
    model,
    used,
    derive: () => derive(app, settled, signal, record),
  })
}

/** Asks the agent's adapter to look at settings and environment, and at nothing else. */
function derive(app: App, settled: Settled, signal: Signal, record: SessionRecord | null): Limits {
  const { agents, liveDir } = app.engine.deps
  const agent = agents[signal.agent]!
  const env: Record<string, string> = {}
  for (const name of agent.environment) if (settled.env[name]) env[name] = settled.env[name]
  const raw: RawSignal = { agent: signal.agent, kind: signal.event, body: '', env, at: signal.at }
  const window = record?.track.limits.window ?? null
  const known = { cursor: null, subagentCursors: {}, model: record?.model ?? null, window, process: null, liveDir }
  return app.store.readUnlocked(`limits ${signal.sessionId} ${JSON.stringify(known)}`, () => {
    return agent.observe({ ...signal, transcriptPath: null }, raw, known).limits
  })
}
