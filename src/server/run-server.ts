import { statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import type { UseCases } from '../app/app.js'
import { makeKeeper, resumeInterruptedJobs, startHousekeeping } from '../app/background-work.js'
import { sessionReaderOf } from '../app/sessions.js'
import { loadConfig } from '../config/load-config.js'
import { watchFolder } from '../delivery/watch-folder.js'
import type { RareWork } from '../engine/load-rare-work.js'
import { type App, openApp } from '../engine/open-engine.js'
import { makePipe } from '../install/prepare-home.js'
import { BatonError } from '../lib/errors.js'
import { hookEnginePath, type ProgramContext } from '../lib/program-context.js'
import { lockFileOf } from '../store/server-lock.js'
import { VERSION } from '../version.js'
import { newToken } from './access.js'
import type { ServerInput } from './dependencies.js'
import { listen } from './listen.js'
import { userToken } from './user-token.js'

export interface RunOptions {
  host: string
  port: number
  /**
   * File with the token that callers must send.
   * Null when the server creates a new one at each start.
   */
  tokenFile: string | null
  /** Loads the use cases of the routes. `ending` is aborted when the server ends. */
  openUseCases(app: App, ending: AbortSignal): Promise<UseCases>
  /** Fulfilled when the server should end. */
  stopped(): Promise<unknown>
  /** Called once the server accepts requests. */
  listening(at: { url: string }): void | Promise<void>
  /** Shows a warning to the user. */
  warn(text: string): void
}

/** Runs the server until `stopped` is fulfilled. Throws when its store or lock is replaced. */
export async function runServer(context: ProgramContext, options: RunOptions): Promise<void> {
  const { host, port } = options
  // Makes V8 collect old objects when they have doubled, not quadrupled.
  // Each signal replaces its session's record, which is probably an old object by then.
  // In short runs, old space then stayed at 21 to 28 MB instead of 50 MB (13 MB in use).
  setFlagsFromString('--heap-growing-percent=100')
  const { token: own, warning } = userToken(host, options.tokenFile)
  if (warning) options.warn(warning)
  const keeper = makeKeeper(
    hookEnginePath(context),
    () => app.home,
    (...said) => app.log(...said),
  )
  const app: App = openApp({
    env: context.env,
    loadConfig,
    rareWork: () => loadRareWork(context),
    now: context.now,
    resident: true,
    leaveWork: keeper.leave,
  })
  const ending = new AbortController()
  // Cleanup functions. They run in reverse order, however the server ends.
  const cleanups: (() => void | Promise<void>)[] = [() => app.close()]
  try {
    const token = own ?? newToken()
    const server = await listen(
      serverInput(app, context, () => options.openUseCases(app, ending.signal)),
      {
        host,
        port,
        token,
        serverFile: app.home.server,
        makePipe: (path) => makePipe(path, context.env),
      },
    )
    cleanups.push(
      () => server.close(),
      () => ending.abort(),
      () => keeper.stop(),
    )
    const stopped = options.stopped()
    await options.listening({ url: server.url })
    cleanups.push(startHousekeeping(app, keeper))
    resumeInterruptedJobs(app, context)
    const watch = watchReplaced(app.home.store, server.holdsLock)
    cleanups.push(watch.stop)
    const ended = await Promise.race([stopped, watch.seen])
    if (ended === 'store') {
      throw new BatonError(
        `The server stopped, because its store ${app.home.store} was removed or replaced.`,
        'Run baton serve again. Until then, hooks work without a server.',
      )
    }
    if (ended === 'lock') {
      throw new BatonError(
        `The server stopped, because its lock ${lockFileOf(app.home.server)} was removed or replaced.`,
        'Run baton serve again. Until then, hooks work without a server.',
      )
    }
  } finally {
    for (const clean of cleanups.reverse()) await clean()
  }
}

function serverInput(app: App, { program }: ProgramContext, openUseCases: ServerInput['openUseCases']): ServerInput {
  return {
    ...app,
    ...sessionReaderOf(app),
    watchLive: (changed) => watchFolder(app.home.live, app.log, changed),
    openUseCases,
    web: join(program, 'web'),
    version: VERSION,
  }
}

/**
 * Detects that the store was moved away, because writes would then be lost.
 * Detects also that the lock no longer keeps other servers out.
 */
function watchReplaced(store: string, holdsLock: () => boolean): { seen: Promise<'store' | 'lock'>; stop(): void } {
  const first = statSync(store).ino
  let timer: NodeJS.Timeout | undefined
  const seen = new Promise<'store' | 'lock'>((resolve) => {
    timer = setInterval(() => {
      if (statSync(store, { throwIfNoEntry: false })?.ino !== first) resolve('store')
      else if (!holdsLock()) resolve('lock')
    }, 1_000)
  })
  return { seen, stop: () => clearInterval(timer) }
}

/** Loads the code for compactions when one happens, because most servers see few a day. */
function loadRareWork({ program }: ProgramContext): RareWork {
  const load = createRequire(import.meta.url)
  return (load(join(program, 'hook-keep.cjs')) as { rareWork: RareWork }).rareWork
}
