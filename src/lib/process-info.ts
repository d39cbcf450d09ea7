import { readFileSync } from 'node:fs'
import { platform, uptime } from 'node:os'
import { codeOf } from './errors.js'
import { rememberFor } from './remember.js'

/** A process told apart from any later one that got the same pid. */
export interface ProcessIdentity {
  pid: number
  /** Opaque; equal only for the same process. */
  startedAt: string
}

export interface ProcessInfo extends ProcessIdentity {
  /** About when it started, milliseconds since the epoch; null: not known. */
  startedAtMs: number | null
}

const TICKS_PER_SECOND = 100

/** null: no such process (a zombie counts as gone). No subprocess on Linux. */
export function processInfo(pid: number): ProcessInfo | null {
  return remembered(String(pid), () => look(pid))
}

const look = (pid: number): ProcessInfo | null => (platform() === 'linux' ? fromProc(pid) : fromPs(pid))

/** A server is asked about the same processes thousands of times a second, and on macOS every answer starts `ps`. */
const remembered = rememberFor<ProcessInfo | null>(5_000, 1024)

export function isAlive(identity: ProcessIdentity): boolean {
  return look(identity.pid)?.startedAt === identity.startedAt
}

/** Whether any process bears this pid now. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return codeOf(error) === 'EPERM'
  }
}

/** The arguments a process was started with, its own name first; null: not to be had. */
export function commandLine(pid: number): string[] | null {
  try {
    if (platform() !== 'linux') return ps(pid, 'command=').split(/\s+/)
    const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
    return args.at(-1) === '' ? args.slice(0, -1) : args
  } catch {
    return null
  }
}

function fromProc(pid: number): ProcessInfo | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The second field is the name in brackets and may hold anything, also brackets.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const ticks = fields[19]
    if (fields[0] === 'Z' || ticks === undefined) return null
    const startedAtMs = Date.now() - uptime() * 1000 + (Number(ticks) / TICKS_PER_SECOND) * 1000
    return { pid, startedAt: ticks, startedAtMs: Number.isFinite(startedAtMs) ? startedAtMs : null }
  } catch {
    return null
  }
}

function fromPs(pid: number): ProcessInfo | null {
  try {
    const startedAt = ps(pid, 'lstart=')
    if (startedAt === '') return null
    const startedAtMs = Date.parse(startedAt)
    return { pid, startedAt, startedAtMs: Number.isNaN(startedAtMs) ? null : startedAtMs }
  } catch {
    return null
  }
}

function ps(pid: number, column: string): string {
  // Not imported: only macOS comes here, and the module costs every hook three milliseconds.
  const { execFileSync } = process.getBuiltinModule('node:child_process')
  return execFileSync('ps', ['-o', column, '-p', String(pid)], {
    encoding: 'utf8',
    timeout: 1000,
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()
}
