import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'

export type Log = (level: 'debug' | 'info' | 'warn' | 'error', text: string, fields?: Record<string, unknown>) => void

const MAX_BYTES = 2_000_000

/** A log file of mode 0600, rotated once. A log that cannot be written is given up silently: it must never disturb a client. */
export function fileLog(path: string, env: Record<string, string | undefined> = process.env): Log {
  const debug = env.BATON_LOG === 'debug'
  return (level, text, fields) => {
    if (level === 'debug' && !debug) return
    const line = JSON.stringify({ at: new Date().toISOString(), level, pid: process.pid, text, ...fields })
    try {
      rotate(path)
      appendFileSync(path, `${line}\n`, { mode: 0o600 })
    } catch {
      try {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
        appendFileSync(path, `${line}\n`, { mode: 0o600 })
      } catch {
        return
      }
    }
  }
}

function rotate(path: string): void {
  if (statSync(path).size > MAX_BYTES) renameSync(path, `${path}.1`)
}

export const silentLog: Log = () => {}
