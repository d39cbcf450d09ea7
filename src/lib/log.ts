import { appendFileSync, constants, lstatSync, renameSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { makePrivateFolder } from './private-folder.js'

export type Log = (level: 'debug' | 'info' | 'warn' | 'error', text: string, fields?: Record<string, unknown>) => void

const MAX_BYTES = 2_000_000

/**
 * Creates a log that appends to a file of mode 0600 and rotates it once.
 * Write errors are ignored, because logging must never disturb a client.
 */
export function fileLog(path: string, env: Record<string, string | undefined> = process.env): Log {
  const debug = env.BATON_LOG === 'debug'
  return (level, text, fields) => {
    if (level === 'debug' && !debug) return
    const line = JSON.stringify({ at: new Date().toISOString(), level, pid: process.pid, text, ...fields })
    try {
      rotate(path)
      append(path, line)
    } catch {
      try {
        makePrivateFolder(dirname(path))
        append(path, line)
      } catch {
        return
      }
    }
  }
}

/**
 * Appends a line to a log file or link of this user. A file of another user is left alone.
 * In a folder that others can write, that file may link to a file of this user.
 * A log file that others created may also let them read the log.
 */
function append(path: string, line: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found && found.uid !== process.getuid?.()) return
  const { O_WRONLY, O_APPEND, O_CREAT, O_EXCL, O_NONBLOCK } = constants
  const flag = O_WRONLY | O_APPEND | O_NONBLOCK | (found ? 0 : O_CREAT | O_EXCL)
  appendFileSync(path, `${line}\n`, { mode: 0o600, flag: flag as unknown as string })
}

function rotate(path: string): void {
  if (statSync(path).size > MAX_BYTES) renameSync(path, `${path}.1`)
}

export const silentLog: Log = () => {}
