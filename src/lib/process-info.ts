import { readdirSync, readFileSync, statSync } from 'node:fs'
import { platform, uptime } from 'node:os'
import { codeOf } from './errors.js'
import { rememberFor } from './remember.js'

/** A process told apart from any later one that got the same pid. */
export interface ProcessIdentity {
  pid: number
  /** Opaque; equal only for the same process. */
  startedAt: string
}

interface ProcessInfo extends ProcessIdentity {
  /** About when it started, milliseconds since the epoch; null: not known. */
  startedAtMs: number | null
  /** The user id it runs as (the effective one); null: not known. */
  owner: number | null
}

const TICKS_PER_SECOND = 100

/** null: no such process (a zombie counts as gone). No subprocess on Linux. */
export function processInfo(pid: number): ProcessInfo | null {
  return remembered(String(pid), () => look(pid))
}

const look = (pid: number): ProcessInfo | null => (platform() === 'linux' ? fromProc(pid) : fromPs(pid))

/** A server is asked about the same processes thousands of times a second, and on macOS every answer starts `ps`. */
const remembered = rememberFor<ProcessInfo | null>(5_000, 1024)

/**
 * The process, if it runs as this user. Null when it runs as another user, is gone, or its owner
 * cannot be told. Every process id that a signal names passes through here, so that nobody can make
 * Baton read, type into or start anything of another user's process.
 */
export function ownProcess(pid: number): ProcessInfo | null {
  const info = processInfo(pid)
  return info !== null && info.owner !== null && info.owner === process.geteuid?.() ? info : null
}

const MOST_ANCESTORS = 64

/**
 * Process ids of the parent, its parent and so on, up to but without the first process of the
 * system.
 */
export function ancestorsOf(pid: number): number[] {
  const found: number[] = []
  for (let at = parentOf(pid); at > 1 && found.length < MOST_ANCESTORS; at = parentOf(at)) found.push(at)
  return found
}

function parentOf(pid: number): number {
  try {
    return Number(platform() === 'linux' ? statFields(pid)[1] : ps(pid, 'ppid='))
  } catch {
    return 0
  }
}

export function isAlive(identity: ProcessIdentity): boolean {
  return look(identity.pid)?.startedAt === identity.startedAt
}

/**
 * Other processes of this user whose environment holds an entry such as `BATON_HOME=/x`. None where
 * the system does not show environments, as on macOS.
 */
export function processesWith(entry: string): number[] {
  return namesIn('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => environmentOf(name).includes(entry))
    .map(Number)
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

/** Empty for a process that is gone or of another user. */
function environmentOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  } catch {
    return []
  }
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
    const fields = statFields(pid)
    const ticks = fields[19]
    if (fields[0] === 'Z' || ticks === undefined) return null
    const startedAtMs = Date.now() - uptime() * 1000 + (Number(ticks) / TICKS_PER_SECOND) * 1000
    // Unlike the files in it, the folder belongs to the effective user also when the process may
    // not be dumped (proc(5)).
    const owner = statSync(`/proc/${pid}`).uid
    return { pid, startedAt: ticks, startedAtMs: Number.isFinite(startedAtMs) ? startedAtMs : null, owner }
  } catch {
    return null
  }
}

/**
 * The fields of `/proc/<pid>/stat` behind the name: state, parent, … The name is in brackets and
 * may hold anything, also brackets.
 */
function statFields(pid: number): string[] {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
}

function fromPs(pid: number): ProcessInfo | null {
  try {
    const [, uid, startedAt] = /^(\d+)\s+(.+)$/.exec(ps(pid, 'uid=,lstart=')) ?? []
    if (startedAt === undefined) return null
    const startedAtMs = Date.parse(startedAt)
    return { pid, startedAt, startedAtMs: Number.isNaN(startedAtMs) ? null : startedAtMs, owner: Number(uid) }
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
