import { type ChildProcess, spawn } from 'node:child_process'
import type { Home } from '../../lib/home.js'
import type { Log } from '../../lib/log.js'

export interface Keeper {
  /** There is work: it is begun now, or once more when what runs is done. */
  leave(): void
  stop(): void
}

/** Archives are written and long transcripts read in a process of their own: the server must go on answering meanwhile. */
export function makeKeeper(engine: string, home: () => Pick<Home, 'root' | 'config' | 'log'>, log: Log): Keeper {
  let running: ChildProcess | null = null
  let again = false
  let stopped = false
  const begin = (): void => {
    again = false
    const { root, config, log: file } = home()
    const env = { ...process.env, BATON_DATA: root, BATON_CONFIG: config, BATON_LOG_FILE: file, NODE_OPTIONS: '' }
    const child = spawn(process.execPath, [engine, 'keep'], { env, stdio: 'ignore' })
    running = child
    const ended = (trouble: string | null): void => {
      if (running !== child) return
      running = null
      if (trouble !== null && !stopped) log('error', 'keeping transcripts failed', { reason: trouble })
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
      running?.kill()
    },
  }
}
