import { loadConfig } from '../config/load-config.js'
import type { BackgroundWork } from '../engine/context.js'
import { type App, openApp } from '../engine/open-engine.js'
import * as rareWork from '../engine/rare-work.js'
import { isClaimDue, sweepHourlyClaim } from '../lib/hourly-claim.js'
import { hookEnginePath, type ProgramContext } from '../lib/program-context.js'
import * as quoteEraser from '../store/sqlite/forget-words.js'
import { drainSpoolSafely, makeKeeper, startWorker } from './background-work.js'

/**
 * Opens the app for one command, processes spooled signals first, and closes the app afterwards.
 */
export async function withOpenApp<T>(
  program: ProgramContext,
  work: (app: App) => T | Promise<T>,
  /** With `keeps`, a process started by this command does the remaining work on transcripts. */
  { keeps, ...options }: { configMs?: number; busyMs?: number; keeps?: boolean } = {},
): Promise<T> {
  const keeper = keeps
    ? makeKeeper(
        hookEnginePath(program),
        () => app.home,
        (...said) => app.log(...said),
      )
    : null
  let isLeft = false
  const leaveWork = (work?: BackgroundWork): void => {
    if (work === 'handoff') startWorker('drive', hookEnginePath(program), app.home)
    else if (work === 'notice') startWorker('notify', hookEnginePath(program), app.home)
    else if (keeper) keeper.leave()
    else isLeft = true
  }
  const app: App = openApp({
    env: program.env,
    loadConfig,
    rareWork: () => rareWork,
    now: program.now,
    leaveWork,
    quoteEraser,
    ...options,
  })
  try {
    // Wait until the transcript is complete, as a hook does when it processes the signal.
    drainSpoolSafely(app, { wait: true })
    return await work(app)
  } finally {
    app.close()
    if (isLeft || isClaimDue(sweepHourlyClaim(app.home, program.now())))
      startWorker('keep', hookEnginePath(program), app.home)
  }
}
