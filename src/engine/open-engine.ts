import { agents } from '../agents/index.js'
import { archivePaths } from '../archive/archive-folders.js'
import { sourcesKey } from '../archive/plan-archive.js'
import { currentConfig } from '../config/current-config.js'
import { fileStampOf } from '../config/find-project.js'
import type { LoadedConfig, LoadOptions } from '../config/load-config.js'
import { policyFor as policyOfConfig } from '../config/policy-for.js'
import type { Session } from '../contract/api/session-view.js'
import type { Policy } from '../contract/policy.js'
import type { PolicySubject } from '../contract/policy-subject.js'
import type { ArchiveRecord } from '../contract/records/archive.js'
import type { SessionRecord } from '../contract/records/session.js'
import type { RawSignal } from '../contract/signal.js'
import { type DrainOptions, drainSpool } from '../delivery/drain-spool.js'
import { folderOutbox } from '../delivery/outbox.js'
import { dropSpooled, readSpooled } from '../delivery/spool.js'
import { batonHome, type Home } from '../lib/home.js'
import { openHomeFolder } from '../lib/home-safety.js'
import { fileLog, type Log } from '../lib/log.js'
import { statusText, WITH_COLOURS, WITHOUT_COLOURS } from '../policy/status-text.js'
import type { QuoteEraser } from '../store/sqlite/open.js'
import { openStore } from '../store/sqlite/sqlite.js'
import type { Store } from '../store/store.js'
import { stepsToCompaction } from '../tracker/forecast.js'
import type { ArchiveRequest, BackgroundWork, BriefSources, PolicyInForce } from './context.js'
import { type Engine, makeEngine } from './engine.js'
import type { RareWork } from './load-rare-work.js'
import { isEnabled } from './session-context.js'
import { findSession } from './views/session-queries.js'
import { viewSession } from './views/session-view.js'

export interface App {
  home: Home
  store: Store
  engine: Engine
  log: Log
  policyOf(subject: PolicySubject): PolicyInForce
  view(record: SessionRecord): Session
  find(id: string): SessionRecord | null
  /** Renders the status line. `plain`: the session's own environment sets NO_COLOR. */
  statusLine(taken: { record: SessionRecord; enabled: boolean }, plain: boolean): string
  /**
   * Processes signals that hooks left in the spool (a folder) while no server ran.
   * Every reading command does this first.
   */
  drain(options?: DrainOptions): number
  /** Returns a signal that the launcher left as a file in the spool. Null when there is none. */
  spooled(id: string): { raw: RawSignal; drop(): void } | null
  /**
   * Plans an archive of the session's transcripts in their present state.
   * Call the function inside a transaction. `archive/` writes the archive later.
   */
  planArchive(request: ArchiveRequest): ArchiveRecord | null
  newId(): string
  now(): Date
  close(): void
}

interface AppOptions {
  env?: Record<string, string | undefined>
  /**
   * Loads the configuration.
   * The hook passes a function that loads the YAML and schema libraries at first call.
   */
  loadConfig(options: LoadOptions): LoadedConfig
  now?: () => Date
  /** Milliseconds for which the configuration files are not read again. */
  configMs?: number
  busyMs?: number
  /** Erases quoted text. Absent when nothing can be erased. */
  quoteEraser?: QuoteEraser
  /**
   * Loads the code around compactions and handoffs.
   * The hook passes a function that loads it at first call.
   */
  rareWork(): RareWork
  /**
   * Called when archives, long transcripts, a handoff or a notice need a background process.
   * Absent: a later process finds the work.
   */
  leaveWork?: (work?: BackgroundWork) => void
  /**
   * True for a long-lived process with many signals.
   * A long-lived process reads the configuration once a second and caches records.
   */
  resident?: boolean
}

/**
 * Opens the store and connects it with agents, configuration and archives.
 * Throws a BatonError when the store cannot be opened.
 */
export function openApp(options: AppOptions): App {
  const env = options.env ?? process.env
  const now = options.now ?? (() => new Date())
  const home = batonHome(env)
  openHomeFolder(home)
  const log = fileLog(home.log, env)
  const store = openStore(home.store, {
    busyMs: options.busyMs,
    ...(options.quoteEraser ? { quoteEraser: options.quoteEraser } : {}),
    onAfterCommitError: (error) => log('warn', 'after a commit', { reason: String(error) }),
    ...(options.resident ? { checkpointPages: 8_000, cacheRecords: true } : {}),
  })
  const policyOf = cachedConfig(
    store,
    home,
    env,
    options.loadConfig,
    options.configMs ?? (options.resident ? 1_000 : 0),
  )
  // The global is used because importing node:crypto costs a hook two milliseconds.
  const newId = (): string => crypto.randomUUID().replaceAll('-', '').slice(0, 16)
  const subagentsOf =
    ({ agent, transcript }: Pick<ArchiveRequest, 'agent' | 'transcript'>) =>
    () =>
      transcript === null ? [] : (agents[agent]?.subagentTranscripts?.(transcript) ?? [])
  const plan = (request: ArchiveRequest): ArchiveRecord | null => {
    const subagents = subagentsOf(request)
    return options
      .rareWork()
      .planArchive({ store, places: archivePaths(home.root), now, newId, log }, { ...request, subagents })
  }
  const briefs = { folder: home.briefs, keyFile: home.key }
  let sources: BriefSources | null = null
  const engine = makeEngine({
    store,
    agents,
    policyOf,
    now,
    newId,
    log,
    outbox: folderOutbox(home.outbox, now),
    liveDir: home.live,
    briefs,
    factsDir: home.facts,
    planArchive(request) {
      const planned = plan(request)
      return planned?.status === 'pending'
        ? { archiveId: planned.archiveId, bytes: planned.parts[0]?.bytes ?? 0 }
        : null
    },
    lookForArchive: (sources) => [
      sourcesKey(sources.transcript),
      options.rareWork().lookAtSources({ transcript: sources.transcript, subagents: subagentsOf(sources) }),
    ],
    leaveWork: options.leaveWork ?? (() => {}),
    loadRareWork: options.rareWork,
    sources: () => {
      sources ??= options.rareWork().openBriefSources(briefs)
      return sources
    },
  })

  const policyFor = (record: SessionRecord): Policy => {
    const seat = store.seat(record.seatId)?.name ?? record.seatId
    return policyOf({ agent: record.agent, project: record.project, model: record.model, seat }).policy
  }
  const view = (record: SessionRecord): Session => {
    const asked = record.process !== null && record.state !== 'ended'
    const alive = asked ? (agents[record.agent]?.alive(record.process!) ?? null) : null
    const policy = policyFor(record)
    const enabled = isEnabled(store, record, policy.enabled)
    return viewSession(record, {
      seat: store.seat(record.seatId),
      enabled,
      levels: policy.levels,
      alive,
      now: now(),
    })
  }

  return {
    home,
    store,
    engine,
    log,
    policyOf,
    view,
    find: (id) => findSession(store, id),
    statusLine({ record, enabled }, plain) {
      const policy = policyFor(record)
      const { segments } = policy.statusLine
      const shownAt = now()
      const handoffId = segments.includes('handoff') ? (record.handoffId ?? null) : null
      const facts = {
        session: viewSession(record, { seat: null, enabled, levels: policy.levels, alive: true, now: shownAt }),
        stepsLeft: segments.includes('forecast') ? stepsToCompaction(record.track) : null,
        handoff: handoffId === null ? null : store.handoff(handoffId),
        planLimits: record.planLimits,
        seatName: segments.includes('seat') ? (store.seat(record.seatId)?.name ?? null) : null,
        now: shownAt,
      }
      return statusText(facts, policy.statusLine, plain ? WITHOUT_COLOURS : WITH_COLOURS)
    },
    drain(how) {
      const taken = drainSpool(engine, home.spool, how)
      engine.endAbandoned()
      engine.checkDueHandoffs()
      return taken
    },
    spooled(id) {
      const found = readSpooled(home.spool, id)
      return found && { raw: found.raw, drop: () => dropSpooled(found.path) }
    },
    planArchive: plan,
    newId,
    now,
    close: () => store.close(),
  }
}

/**
 * Milliseconds that a configuration may be old inside a transaction.
 * The transaction's caller has just checked the files.
 */
const LOCKED_MS = 5_000

/**
 * Returns the configuration of a project and its policies, cached.
 * A cached configuration is read again once it is older than `trustMs`.
 * The cached configuration is also read again when the user changes trust in a project file.
 */
function cachedConfig(
  store: Store,
  home: Home,
  env: Record<string, string | undefined>,
  load: AppOptions['loadConfig'],
  trustMs: number,
): App['policyOf'] {
  interface Kept {
    at: number
    /** Fingerprint of the folder that stores which project files the user trusts. */
    trust: string
    current: ReturnType<typeof currentConfig>
    policies: Map<string, Policy>
  }
  const kept = new Map<string, Kept>()
  return (subject) => {
    const own = subject.env && Object.keys(subject.env).length > 0 ? subject.env : env
    const key = `${subject.project ?? ''}\n${own.BATON_ENABLED ?? ''}\n${own.BATON_PRESETS ?? ''}`
    const before = kept.get(key)
    const freshMs = store.inTransaction() ? Math.max(trustMs, LOCKED_MS) : trustMs
    // Without a project file there is nothing to trust, so most signals skip this check.
    const isCurrent = (known: Kept): boolean =>
      Date.now() - known.at < freshMs &&
      (known.current.project === null || known.trust === fileStampOf(home.trust).mark)
    const read = (): Kept => {
      const trust = fileStampOf(home.trust).mark
      if (kept.size > 500) kept.clear()
      const current = currentConfig({
        home,
        project: subject.project,
        env: { ...env, BATON_ENABLED: own.BATON_ENABLED, BATON_PRESETS: own.BATON_PRESETS },
        load,
      })
      const same = before?.current.mark === current.mark && before.policies.size < 5_000
      const entry = { at: Date.now(), trust, current, policies: same ? before.policies : new Map() }
      kept.set(key, entry)
      return entry
    }
    const entry = before && isCurrent(before) ? before : store.readUnlocked(`configuration ${key}`, read)
    const name = `${subject.agent} ${subject.model} ${subject.seat}`
    let policy = entry.policies.get(name)
    if (!policy) {
      policy = policyOfConfig(entry.current.config, subject)
      entry.policies.set(name, policy)
    }
    return { policy, problems: entry.current.problems, project: entry.current.project }
  }
}
