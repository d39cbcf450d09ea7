import { type ChildProcess, spawn } from 'node:child_process'
import type { Home } from '../../lib/home.js'
import type { Log } from '../../lib/log.js'

export interface Keeper {
  /** There is work: it is begun now, or once more when what runs is done. `handoff`: a terminal has to be typed into. */
  leave(work?: 'handoff'): void
  stop(): void
}

type Places = Pick<Home, 'root' | 'config' | 'log'>

/** Archives are written and long transcripts read in a process of their own: the server must go on answering meanwhile. */
export function makeKeeper(engine: string, home: () => Places, log: Log): Keeper {
  const keeping = oneAtATime(
    () => spawn(process.execPath, [engine, 'keep'], { env: environment(home()), stdio: 'ignore' }),
    (reason) => log('error', 'keeping transcripts failed', { reason }),
  )
  const driving = oneAtATime(
    () => startDriver(engine, home()),
    (reason) => log('error', 'typing for handoffs failed', { reason }),
  )
  return {
    leave: (work) => (work === 'handoff' ? driving : keeping).leave(),
    stop() {
      keeping.stop()?.kill()
      // Half a handoff would be worse than one without a server.
      driving.stop()
    },
  }
}

/** What was left to be done is done once, also when whoever started it has ended. */
export function startKeeping(engine: string, home: Places): void {
  const child = spawn(process.execPath, [engine, 'keep'], { env: environment(home), stdio: 'ignore', detached: true, cwd: '/' })
  // Whoever comes next sees that it is still to be done.
  child.once('error', () => {})
  child.unref()
}

/** Types into clients' terminals until no handoff needs it, also when whoever started it has ended. */
export function startDriver(engine: string, home: Places): ChildProcess {
  const child = spawn(process.execPath, [engine, 'drive'], { env: environment(home), stdio: 'ignore', detached: true, cwd: '/' })
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
