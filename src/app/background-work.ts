import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { agents } from '../agents/index.js'
import { hasArchiveWork } from '../archive/has-work.js'
import { tidyDaily, tidyPathsOf } from '../delivery/tidy-home.js'
import { sessionsNeedingBrief } from '../engine/compaction/deferred-work.js'
import type { BackgroundWork } from '../engine/context.js'
import type { App } from '../engine/open-engine.js'
import { findLostJobs } from '../jobs/find-job.js'
import { reasonOf } from '../lib/errors.js'
import type { Home } from '../lib/home.js'
import { isClaimDue, sweepHourlyClaim } from '../lib/hourly-claim.js'
import type { Log } from '../lib/log.js'
import { isRunning } from '../lib/process-info.js'
import type { ProgramContext } from '../lib/program-context.js'

interface Keeper {
  /** Starts the work now. If a process for such work already runs, starts another one after it. */
  leave(work?: BackgroundWork): void
  stop(): void
}

type Places = Pick<Home, 'root' | 'config' | 'log'>

/**
 * Starts background processes.
 * Background processes handle archives and long transcripts, so the server keeps answering.
 */
export function makeKeeper(engine: string, home: () => Places, log: Log): Keeper {
  const keeping = oneAtATime(
    () => spawn(process.execPath, [engine, 'keep'], { env: environment(home()), stdio: 'ignore' }),
    (reason) => log('error', 'archiving transcripts failed', { reason }),
  )
  const driving = oneAtATime(
    () => startWorker('drive', engine, home()),
    (reason) => log('error', 'typing for handoffs failed', { reason }),
  )
  const notifying = oneAtATime(
    () => startWorker('notify', engine, home()),
    (reason) => log('error', 'sending notices failed', { reason }),
  )
  return {
    leave: (work) => (work === 'handoff' ? driving : work === 'notice' ? notifying : keeping).leave(),
    stop() {
      keeping.stop()?.kill()
      // An interrupted handoff would be worse than a process that outlives its server.
      // Stored notices must still be sent.
      driving.stop()
      notifying.stop()
    },
  }
}

/**
 * Starts a process that outlives this one.
 * `drive` types into clients' terminals until no handoff needs that.
 * `keep` processes transcripts, `notify` sends notices.
 */
export function startWorker(mode: 'drive' | 'keep' | 'notify', engine: string, home: Places): ChildProcess {
  const child = spawn(process.execPath, [engine, mode], {
    env: environment(home),
    stdio: 'ignore',
    detached: true,
    cwd: '/',
  })
  // A failed start must not end a caller that has no listener. The work stays in the store.
  child.once('error', () => {})
  child.unref()
  return child
}

function environment({ root, config, log }: Places): NodeJS.ProcessEnv {
  return { ...process.env, BATON_DATA: root, BATON_CONFIG: config, BATON_LOG_FILE: log, NODE_OPTIONS: '' }
}

function oneAtATime(
  start: () => ChildProcess,
  complain: (reason: string) => void,
): { leave(): void; stop(): ChildProcess | null } {
  let running: ChildProcess | null = null
  let again = false
  let stopped = false
  const begin = (): void => {
    again = false
    const child = start()
    running = child
    const ended = (trouble: string | null): void => {
      if (running !== child) return
      running = null
      if (trouble !== null && !stopped) complain(trouble)
      if (again && !stopped) begin()
    }
    child.once('error', (error) => ended(String(error)))
    child.once('exit', (code, signal) => ended(code === 0 ? null : `ended with ${code ?? signal}`))
  }
  return {
    leave() {
      if (stopped) return
      if (running) again = true
      else begin()
    },
    stop() {
      stopped = true
      return running
    },
  }
}

/**
 * Resumes jobs that a crash or reboot interrupted, in one process beside the server.
 * The process that resumes jobs outlives the server, and the server keeps answering.
 * A job has one runner: the first process that claims the job.
 */
export function resumeInterruptedJobs(
  app: Pick<App, 'store' | 'home' | 'log'>,
  { env }: Pick<ProgramContext, 'env'>,
): number | null {
  const { interrupted, stopRequested, endHooksDue } = findLostJobs(app.store)
  if (interrupted.length + stopRequested.length + endHooksDue.length === 0) return null
  try {
    const folder = app.home.jobs
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const out = openSync(join(folder, 'resumed.log'), 'w', 0o600)
    // Remove the job's variables.
    // When that job around this server ends, the new process must not end with it.
    const { BATON_JOB_ID: _, BATON_RUN_SESSION: __, ...rest } = env
    const child = spawn(process.execPath, [process.argv[1]!, 'jobs', 'resume'], {
      cwd: folder,
      env: rest,
      detached: true,
      stdio: ['ignore', out, out],
    })
    child.once('error', (error) => app.log('error', 'lost jobs could not be resumed', { reason: reasonOf(error) }))
    child.unref()
    closeSync(out)
    app.log('info', 'lost jobs are resumed', {
      jobs: interrupted.map(({ jobId }) => jobId).join(' '),
      pid: child.pid ?? null,
    })
    return child.pid ?? null
  } catch (error) {
    app.log('error', 'lost jobs could not be resumed', { reason: reasonOf(error) })
    return null
  }
}

const DRAIN_MS = 3_000
const KEEP_MS = 10 * 60_000
const TIDY_MS = 3_600_000
const FIRST_TIDY_MS = 60_000

/** Processes signals that arrived without a server, now and regularly. Tidies the home daily. */
export function startHousekeeping(app: App, keeper: Pick<Keeper, 'leave'>): () => void {
  drainSpoolSafely(app)
  const keep = (): void => {
    if (isWorkLeft(app)) keeper.leave()
  }
  keep()
  const notify = (): void => {
    try {
      if (app.store.dueNotices(app.now().toISOString()).length > 0) keeper.leave('notice')
    } catch (error) {
      app.log('warn', 'due notices could not be read', { reason: reasonOf(error) })
    }
  }
  notify()
  const timers = [
    // Sends postponed notices, and notices stored by hooks without a server or by a killed process.
    setInterval(notify, DRAIN_MS),
    setInterval(() => drainSpoolSafely(app, { youngestMs: 2_000 }), DRAIN_MS),
    setInterval(() => tidyHomeNow(app), TIDY_MS),
    setInterval(keep, KEEP_MS),
    setTimeout(() => tidyHomeNow(app), FIRST_TIDY_MS),
  ]
  return () => timers.forEach(clearTimeout)
}

/**
 * Returns whether background work is waiting: the hourly search for archives, transcripts, briefs.
 * The process that should do the work may have died.
 */
export function isWorkLeft({ store, home, now }: Pick<App, 'store' | 'home' | 'now'>): boolean {
  return (
    isClaimDue(sweepHourlyClaim(home, now())) ||
    hasArchiveWork(store, now()) ||
    store.openCompactions().length > 0 ||
    sessionsNeedingBrief(store, now()).length > 0
  )
}

/** Tidies the home. While a server runs, no hook does this. */
export function tidyHomeNow(app: Pick<App, 'store' | 'home' | 'now' | 'log'>): void {
  const { store, home, now } = app
  try {
    if (tidyDaily(store, tidyPathsOf(home), now()))
      for (const { waiter } of Object.values(agents)) waiter?.tidy(home.live, now(), isRunning)
  } catch (error) {
    app.log('warn', 'the home could not be tidied', { reason: reasonOf(error) })
  }
}

/**
 * Processes the signals in the spool.
 * A signal that fails must not prevent the user from reading stored data.
 */
export function drainSpoolSafely(app: App, options: Parameters<App['drain']>[0] = {}): void {
  try {
    app.drain(options)
  } catch (error) {
    app.log('warn', 'the spool could not be drained', { reason: String(error) })
  }
}
