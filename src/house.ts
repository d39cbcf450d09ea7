import { agents } from './agents/index.js'
import { archivePlaces } from './archive/places.js'
import { planArchive } from './archive/plan-archive.js'
import { currentConfig } from './config/current-config.js'
import type { Loaded, LoadOptions } from './config/load-config.js'
import { policyFor as policyOfConfig } from './config/policy-for.js'
import type { ArchiveRecord } from './contract/archive.js'
import type { ConfigProblem, Policy, PolicySubject } from './contract/policy.js'
import type { SessionRecord } from './contract/record.js'
import type { Session } from './contract/session.js'
import type { RawSignal } from './contract/signal.js'
import { folderOutbox } from './delivery/outbox.js'
import type { Around } from './engine/around.js'
import type { ArchiveRequest } from './engine/draft.js'
import { type Engine, makeEngine } from './engine/engine.js'
import { findSession } from './engine/queries.js'
import { isEnabled, rearmSession } from './engine/switches.js'
import { viewSession } from './engine/view.js'
import { type DrainOptions, drainSpool } from './hook/drain.js'
import { COLOURS, WITHOUT_COLOURS } from './hook/paint.js'
import { dropSpooled, readSpooled } from './hook/spool.js'
import { batonHome, type Home } from './lib/home.js'
import { fileLog, type Log } from './lib/log.js'
import { statusText } from './policy/status-text.js'
import type { Forgetting } from './store/sqlite/open.js'
import { openStore } from './store/sqlite/sqlite.js'
import type { Store } from './store/store.js'

export interface House {
  home: Home
  store: Store
  engine: Engine
  log: Log
  policyOf(subject: PolicySubject): { policy: Policy; problems: ConfigProblem[] }
  view(record: SessionRecord): Session
  find(id: string): SessionRecord | null
  /** `plain`: the session's own environment says NO_COLOR. */
  statusLine(taken: { record: SessionRecord; enabled: boolean }, plain: boolean): string
  /** Takes what hooks left in the spool while no server ran; every command that reads does this first. */
  drain(options?: DrainOptions): number
  /** A signal a launcher left in the spool. */
  spooled(id: string): { raw: RawSignal; drop(): void } | null
  /** Inside a transaction: what the session's transcripts hold now will be kept (`archive/` does it later). */
  planArchive(request: ArchiveRequest): ArchiveRecord | null
  newId(): string
  /** Opens the latches of a session. */
  rearm(sessionId: string): void
  now(): Date
  close(): void
}

export interface HouseOptions {
  env?: Record<string, string | undefined>
  /** Brings the YAML and schema libraries: the hook passes a function that loads them only when it is called. */
  loadConfig(options: LoadOptions): Loaded
  now?: () => Date
  /** How long the configuration files are trusted without another look. */
  configMs?: number
  busyMs?: number
  /** What forgets words; absent: nothing can be forgotten. */
  forgetting?: Forgetting
  /** What is done around a compaction; the hook passes a function that loads it only when it is called. */
  around(): Around
  /** Called when archives, long transcripts or a handoff wait for a process that has time. Absent: whoever comes next sees to it. */
  leaveWork?: (work?: 'handoff') => void
  /** For a process that lives long and takes many signals: trusts the configuration for a second, remembers what it read. */
  resident?: boolean
}

/** Joins the rooms. Throws a BatonError when the store cannot be opened. */
export function openHouse(options: HouseOptions): House {
  const env = options.env ?? process.env
  const now = options.now ?? (() => new Date())
  const home = batonHome(env)
  const log = fileLog(home.log, env)
  const store = openStore(home.store, {
    busyMs: options.busyMs,
    ...(options.forgetting ? { forgetting: options.forgetting } : {}),
    complain: (error) => log('warn', 'after a commit', { reason: String(error) }),
    ...(options.resident ? { checkpointPages: 8_000, remember: true } : {}),
  })
  const policyOf = configured(home, env, options.loadConfig, options.configMs ?? (options.resident ? 1_000 : 0))
  // The global, because importing node:crypto costs a hook two milliseconds it rarely needs.
  const newId = (): string => crypto.randomUUID().replaceAll('-', '').slice(0, 16)
  const plan = (request: ArchiveRequest): ArchiveRecord | null => {
    const subagents = request.transcript === null ? [] : (agents[request.agent]?.subagentTranscripts?.(request.transcript) ?? [])
    return planArchive({ store, places: archivePlaces(home.root), now, newId, log }, { ...request, subagents })
  }
  const engine = makeEngine({
    store,
    agents,
    policyOf,
    now,
    newId,
    log,
    outbox: folderOutbox(home.outbox, now),
    liveDir: home.live,
    briefs: { folder: home.briefs, keyFile: home.key },
    factsDir: home.facts,
    planArchive(request) {
      const planned = plan(request)
      return planned?.status === 'pending' ? { archiveId: planned.archiveId, bytes: planned.parts[0]?.bytes ?? 0 } : null
    },
    leaveWork: options.leaveWork ?? (() => {}),
    around: options.around,
  })

  const policyFor = (record: SessionRecord): Policy => {
    const seat = store.seat(record.seatId)?.name ?? record.seatId
    return policyOf({ agent: record.agent, project: record.project, model: record.model, seat }).policy
  }
  const view = (record: SessionRecord): Session => {
    const asked = record.process !== null && record.state !== 'ended'
    const alive = asked ? (agents[record.agent]?.alive(record.process!) ?? null) : null
    const enabled = isEnabled(store, record, policyFor(record).enabled)
    return viewSession(record, { seat: store.seat(record.seatId), enabled, alive, now: now() })
  }

  return {
    home,
    store,
    engine,
    log,
    policyOf,
    view,
    find: (id) => findSession(store, id),
    statusLine: ({ record, enabled }, plain) =>
      statusText(viewSession(record, { seat: null, enabled, alive: true, now: now() }), plain ? WITHOUT_COLOURS : COLOURS),
    drain(how) {
      const taken = drainSpool(engine, home.spool, how)
      engine.endAbandoned()
      engine.lookAtHandoffs()
      return taken
    },
    spooled(id) {
      const found = readSpooled(home.spool, id)
      return found && { raw: found.raw, drop: () => dropSpooled(found.path) }
    },
    planArchive: plan,
    newId,
    rearm: (sessionId) => rearmSession(store, sessionId),
    now,
    close: () => store.close(),
  }
}

/** The configuration of each project, looked at again once it is older than `trustMs`, and the policies made from it. */
function configured(
  home: Home,
  env: Record<string, string | undefined>,
  load: HouseOptions['loadConfig'],
  trustMs: number,
): House['policyOf'] {
  interface Kept {
    at: number
    current: ReturnType<typeof currentConfig>
    policies: Map<string, Policy>
  }
  const kept = new Map<string, Kept>()
  return (subject) => {
    const own = subject.env && Object.keys(subject.env).length > 0 ? subject.env : env
    const key = `${subject.project ?? ''}\n${own.BATON_ENABLED ?? ''}\n${own.BATON_PRESETS ?? ''}`
    let entry = kept.get(key)
    if (!entry || Date.now() - entry.at >= trustMs) {
      if (kept.size > 500) kept.clear()
      const current = currentConfig({
        home,
        project: subject.project,
        env: { ...env, BATON_ENABLED: own.BATON_ENABLED, BATON_PRESETS: own.BATON_PRESETS },
        load,
      })
      const same = entry?.current.mark === current.mark && entry.policies.size < 5_000
      entry = { at: Date.now(), current, policies: same ? entry!.policies : new Map() }
      kept.set(key, entry)
    }
    const name = `${subject.agent} ${subject.model} ${subject.seat}`
    let policy = entry.policies.get(name)
    if (!policy) {
      policy = policyOfConfig(entry.current.config, subject)
      entry.policies.set(name, policy)
    }
    return { policy, problems: entry.current.problems }
  }
}
