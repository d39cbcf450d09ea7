import { existsSync, readFileSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { agents } from '../agents/index.js'
import { hasArchiveWork } from '../archive/has-work.js'
import type { LoadedConfig, LoadOptions } from '../config/load-config.js'
import { DEFAULT_AGENT } from '../contract/agent-ids.js'
import { answerWaitingHook, drainSession, drainUnderLock } from '../delivery/drain-spool.js'
import { dropSpooled, needsImmediateAnswer, readSpooled } from '../delivery/spool.js'
import { tidyDaily, tidyPathsOf } from '../delivery/tidy-home.js'
import { sessionsNeedingBrief } from '../engine/compaction/deferred-work.js'
import type { BackgroundWork } from '../engine/context.js'
import type { RareWork } from '../engine/load-rare-work.js'
import { type App, openApp } from '../engine/open-engine.js'
import { batonHome } from '../lib/home.js'
import { openHomeFolder } from '../lib/home-safety.js'
import { isClaimDue, sweepHourlyClaim } from '../lib/hourly-claim.js'
import { fileLog } from '../lib/log.js'
import { scaleTimeout } from '../lib/patience.js'
import { isRunning } from '../lib/process-info.js'

/**
 * Runs one mode of the hook engine, named by the first argument:
 * status-line, drain, answer, keep, drive or notify.
 * The modes `answer` and `status-line` print their result.
 * Always exits 0; failures are logged.
 */
export function runEngineMode(beforeLeaving: () => void): void {
  const [mode, id] = process.argv.slice(2)
  const env = process.env
  // This process was started to send a stored notice. Without a store there is none.
  // A home that the user purged must not be created again.
  if (mode === 'notify' && !existsSync(batonHome(env).store)) {
    leave(null)
    return
  }
  try {
    // Nothing is written to a home that others could change, not even a log.
    // The doctor explains the problem.
    openHomeFolder(batonHome(env))
  } catch {
    leave(null)
    return
  }
  try {
    if (mode === 'status-line') say(statusLine(env))
    else if (mode === 'drain') drain(env)
    else if (mode === 'answer' && id) say(answer(env, id))
    else if (mode === 'keep') {
      hasLeftWork = true
      keep(openApp({ env, loadConfig, rareWork, leaveWork, configMs: 1_000 }))
    } else if (mode === 'drive' || mode === 'notify') {
      void runWorker(mode, env).finally(() => {
        beforeLeaving()
        leave(batonHome(env).store)
      })
      return
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    fileLog(batonHome(env).log, env)('error', reason, { mode })
    if (mode === 'status-line') say('baton: cannot use its store, run baton doctor')
  }
  // Started after the answer, which must not wait for it.
  if (hasNotices) startWorker('notify')
  beforeLeaving()
  leave(batonHome(env).store)
}

const LONG_LOG = 1_000_000

/**
 * Exits without closing SQLite (a checkpoint and four syncs, six milliseconds).
 * Every commit is already in the write-ahead log.
 * Once that log is long, this process closes SQLite properly.
 */
function leave(store: string | null): void {
  process.exitCode = 0
  const log = store === null ? 0 : sizeOf(`${store}-wal`)
  if (log < LONG_LOG) (process as unknown as { reallyExit(code: number): never }).reallyExit(0)
}

function sizeOf(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.size ?? 0
  } catch {
    return 0
  }
}

/** Writes to the descriptor directly, because the stream would cost four milliseconds. */
function say(text: string): void {
  if (text === '') return
  try {
    writeSync(1, text)
  } catch {
    // The client has closed its end of the output.
  }
}

function drain(env: Record<string, string | undefined>): void {
  const app = openApp({ env, loadConfig, rareWork, leaveWork, busyMs: scaleTimeout(4_000), configMs: 1_000 })
  drainUnderLock(app.engine, app.home.spool, join(app.home.root, 'run', 'drain'))
  if (tidyDaily(app.store, tidyPathsOf(app.home), app.now()))
    for (const { waiter } of Object.values(agents)) waiter?.tidy(app.home.live, app.now(), isRunning)
  keep(app)
}

/** Checks due handoffs and does background work: briefs, facts, archives and the sweep. */
function keep(app: App): void {
  const { store } = app
  app.engine.checkDueHandoffs()
  const now = app.now()
  // The process that should send these notices may have died.
  if (store.dueNotices(now.toISOString()).length > 0) hasNotices = true
  const waits =
    hasLeftWork ||
    isClaimDue(sweepHourlyClaim(app.home, now)) ||
    hasArchiveWork(store, now) ||
    store.openCompactions().length > 0 ||
    sessionsNeedingBrief(store, now).length > 0
  if (!waits) return
  keeping().runKeeper(app)
}

/**
 * Runs a background worker. `drive`: types into clients' terminals while a handoff needs it.
 * `notify`: sends notices to the user outside the client.
 */
async function runWorker(mode: 'drive' | 'notify', env: Record<string, string | undefined>): Promise<void> {
  try {
    const leaveNotices = (work?: BackgroundWork): void => {
      if (work === 'notice') startWorker('notify')
    }
    const app = openApp({ env, loadConfig, rareWork, leaveWork: leaveNotices, configMs: 1_000 })
    await (mode === 'drive' ? keeping().driveHandoffs(app) : keeping().sendStoredNotices(app))
  } catch (error) {
    fileLog(batonHome(env).log, env)('error', String(error), { mode })
  }
}

/** True when background work was left that the store does not show. */
let hasLeftWork = false
/** True when a notice was stored that must be sent. */
let hasNotices = false

/**
 * Leaves work that the current signal need not wait for.
 * Background processes type into terminals and send notices.
 * This process, after its signals, or the next hook does any other work.
 */
function leaveWork(work?: BackgroundWork): void {
  if (work === 'handoff') startWorker('drive')
  else if (work === 'notice') hasNotices = true
  else hasLeftWork = true
}

function startWorker(mode: 'drive' | 'notify'): void {
  const { spawn } = process.getBuiltinModule('node:child_process')
  const child = spawn(process.execPath, [process.argv[1]!, mode], { detached: true, stdio: 'ignore', cwd: '/' })
  // Without a listener a failed start would end this process with a stack trace.
  child.once('error', (error) => fileLog(batonHome().log, process.env)('error', String(error), { mode }))
  child.unref()
}

function answer(env: Record<string, string | undefined>, id: string): string {
  // When many sessions compact at once, each waits for its turn, so that every hook gets an answer.
  const busyMs = scaleTimeout(needsImmediateAnswer(id) ? 5_000 : 900)
  const app = openApp({ env, loadConfig, rareWork, leaveWork, busyMs, configMs: 1_000 })
  return answerWaitingHook(app.engine, app.home.spool, id)
}

function statusLine(env: Record<string, string | undefined>): string {
  const app = openApp({ env, loadConfig, rareWork, leaveWork, busyMs: scaleTimeout(900), configMs: 1_000 })
  const agent = agents[DEFAULT_AGENT]!
  const passed = Object.fromEntries(
    agent.environment.flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
  ) as Record<string, string>
  const id = env.BATON_SIGNAL
  const spooled = env.BATON_SPOOLED && id ? readSpooled(app.home.spool, id) : null
  const raw = spooled?.raw ?? {
    agent: agent.id,
    kind: 'status-line',
    body: readFileSync(0, 'utf8'),
    env: passed,
    at: Date.now(),
  }
  if (id && !spooled) drainSession(app.engine, app.home.spool, id.split('.', 1)[0]!)
  const taken = app.engine.take(raw, { deliver: 'outbox', unserved: true, ...(id ? { signalId: id } : {}) })
  if (spooled) dropSpooled(spooled.path)
  return taken.record ? app.statusLine({ record: taken.record, enabled: taken.enabled }, Boolean(env.NO_COLOR)) : ''
}

interface KeeperBundle {
  runKeeper(app: App): void
  driveHandoffs(app: App): Promise<void>
  sendStoredNotices(app: App): Promise<void>
  rareWork: RareWork
}

const keeping = () => require('./hook-keep.cjs') as KeeperBundle
const rareWork = (): RareWork => keeping().rareWork

function loadConfig(options: LoadOptions): LoadedConfig {
  return (require('./hook-config.cjs') as { loadConfig(options: LoadOptions): LoadedConfig }).loadConfig(options)
}
