import { readFileSync, statSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { tidyWaiters } from '../agents/claude-code/waiter.js'
import { agents } from '../agents/index.js'
import { hasWork } from '../archive/has-work.js'
import type { Loaded, LoadOptions } from '../config/load-config.js'
import type { Around } from '../engine/around.js'
import { wantedBriefs } from '../engine/late-work.js'
import { type House, openHouse } from '../house.js'
import { batonHome } from '../lib/home.js'
import { fileLog } from '../lib/log.js'
import { isRunning } from '../lib/process-info.js'
import { answerOne, drainSession, drainUnderLock } from './drain.js'
import { dropSpooled, isSaidNow, readSpooled } from './spool.js'
import { placesOf, tidyDaily } from './tidy.js'

/** The engine without a server. Prints only a status line, always exits 0; what goes wrong is in the log. */
export function run(beforeLeaving: () => void): void {
  const [mode, id] = process.argv.slice(2)
  const env = process.env
  try {
    if (mode === 'status-line') say(statusLine(env))
    else if (mode === 'drain') drain(env)
    else if (mode === 'answer' && id) say(answer(env, id))
    else if (mode === 'keep') {
      isLeft = true
      keep(openHouse({ env, loadConfig, around, leaveWork, configMs: 1_000 }))
    } else if (mode === 'drive') {
      void drive(env).finally(() => {
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
  beforeLeaving()
  leave(batonHome(env).store)
}

const LONG_LOG = 1_000_000

/**
 * Leaves without SQLite's farewell (a checkpoint and four syncs, six milliseconds): every commit is in the write-ahead log already.
 * Once that log is long, this process is the one that says farewell.
 */
function leave(store: string): void {
  process.exitCode = 0
  const log = statSync(`${store}-wal`, { throwIfNoEntry: false })?.size ?? 0
  if (log < LONG_LOG) (process as unknown as { reallyExit(code: number): never }).reallyExit(0)
}

/** Straight to the descriptor: the stream would cost four milliseconds. */
function say(text: string): void {
  if (text !== '') writeSync(1, text)
}

function drain(env: Record<string, string | undefined>): void {
  const house = openHouse({ env, loadConfig, around, leaveWork, busyMs: 4_000, configMs: 1_000 })
  drainUnderLock(house.engine, house.home.spool, join(house.home.root, 'run', 'drain'))
  if (tidyDaily(house.store, placesOf(house.home), house.now())) tidyWaiters(house.home.live, house.now(), isRunning)
  keep(house)
}

/** What compactions and handoffs left to be done, if anything. */
function keep(house: House): void {
  const { store } = house
  house.engine.lookAtHandoffs()
  const now = house.now()
  const waits = isLeft || hasWork(store, now) || store.openCompactions().length > 0 || wantedBriefs(store, now).length > 0
  if (!waits) return
  keeping().keep(house)
}

/** Types into clients' terminals for as long as a handoff needs it. */
async function drive(env: Record<string, string | undefined>): Promise<void> {
  try {
    await keeping().driveHandoffs(openHouse({ env, loadConfig, around, configMs: 1_000 }))
  } catch (error) {
    fileLog(batonHome(env).log, env)('error', String(error), { mode: 'drive' })
  }
}

/** Something was left to be done that the store is not asked for. */
let isLeft = false

/** A terminal is typed into by a process no hook waits for. What else there is to do, this one or the next does. */
function leaveWork(work?: 'handoff'): void {
  if (work !== 'handoff') {
    isLeft = true
    return
  }
  const { spawn } = process.getBuiltinModule('node:child_process')
  spawn(process.execPath, [process.argv[1]!, 'drive'], { detached: true, stdio: 'ignore', cwd: '/' }).unref()
}

function answer(env: Record<string, string | undefined>, id: string): string {
  // When many sessions are compacted at once, each waits for its turn rather than say nothing.
  const busyMs = isSaidNow(id) ? 5_000 : 900
  const house = openHouse({ env, loadConfig, around, leaveWork, busyMs, configMs: 1_000 })
  return answerOne(house.engine, house.home.spool, id)
}

function statusLine(env: Record<string, string | undefined>): string {
  const house = openHouse({ env, loadConfig, around, leaveWork, busyMs: 900, configMs: 1_000 })
  const agent = agents['claude-code']!
  const passed = Object.fromEntries(agent.environment.flatMap((name) => (env[name] ? [[name, env[name]]] : []))) as Record<
    string,
    string
  >
  const id = env.BATON_SIGNAL
  const spooled = env.BATON_SPOOLED && id ? readSpooled(house.home.spool, id) : null
  const raw = spooled?.raw ?? { agent: agent.id, kind: 'status-line', body: readFileSync(0, 'utf8'), env: passed, at: Date.now() }
  if (id && !spooled) drainSession(house.engine, house.home.spool, id.split('.', 1)[0]!)
  const taken = house.engine.take(raw, { deliver: 'outbox', unserved: true, ...(id ? { signalId: id } : {}) })
  if (spooled) dropSpooled(spooled.path)
  return taken.record ? house.statusLine({ record: taken.record, enabled: taken.enabled }, Boolean(env.NO_COLOR)) : ''
}

interface Keeping {
  keep(house: House): void
  driveHandoffs(house: House): Promise<void>
  around: Around
}

const keeping = () => require('./hook-keep.cjs') as Keeping
const around = (): Around => keeping().around

function loadConfig(options: LoadOptions): Loaded {
  return (require('./hook-config.cjs') as { loadConfig(options: LoadOptions): Loaded }).loadConfig(options)
}
