import { readFileSync } from 'node:fs'
import type { Home } from '../../lib/home.js'
import { isRunning } from '../../lib/process-info.js'

export interface RunningServer {
  port: number
  token: string | null
  pid: number
}

/** The server of this home as it announced itself; null: none, or its process is gone. */
export function runningServer(home: Pick<Home, 'server'>): RunningServer | null {
  try {
    const [port = '', token = '', pid = ''] = readFileSync(home.server, 'utf8').trim().split(' ')
    const found = { port: Number(port), token: token === '-' ? null : token, pid: Number(pid) }
    const valid = Number.isInteger(found.port) && found.port > 0 && Number.isInteger(found.pid) && found.pid > 0
    return valid && isRunning(found.pid) ? found : null
  } catch {
    return null
  }
}
