import { readdirSync, readFileSync, statSync } from 'node:fs'
import { platform, uptime } from 'node:os'
import { errorCodeOf } from './errors.js'
import { makeTimedCache } from './timed-cache.js'

/** Identity of a process, which differs from that of later processes with the same pid. */
export interface ProcessIdentity {
  pid: number
  /** Opaque value that is equal only for the same process. */
  startedAt: string
}

interface ProcessInfo extends ProcessIdentity {
  /** Approximate start time, milliseconds since 1970. Null when unknown. */
  startedAtMs: number | null
  /** Effective user id of the process. Null when unknown. */
  owner: number | null
}

const TICKS_PER_SECOND = 100

/**
 * Returns information about a process. Null when it does not exist or is a zombie.
 * On Linux this starts no subprocess.
 */
export function processInfo(pid: number): ProcessInfo | null {
  return remembered(String(pid), () => readProcess(pid))
}

/**
 * Returns the identity under which this process claims work. A pid may be reused, an identity not.
 */
export function ownIdentity(): { pid: number; startedAt: string } {
  const { pid, startedAt } = processInfo(process.pid)!
  return { pid, startedAt }
}

const readProcess = (pid: number): ProcessInfo | null => (platform() === 'linux' ? fromProc(pid) : fromPs(pid))

/**
 * Cached for 5 seconds. A server asks about the same processes thousands of times a second.
 * On macOS every lookup starts `ps`.
 */
const remembered = makeTimedCache<ProcessInfo | null>(5_000, 1024)

/**
 * Returns a process if it runs as this user.
 * Null for another user, a dead process or an unknown owner.
 * Every pid in a signal is checked here.
 * No signal can make Baton read from, type into or start anything of another user's process.
 */
export function processOfThisUser(pid: number): ProcessInfo | null {
  const info = processInfo(pid)
  return info !== null && info.owner !== null && info.owner === process.geteuid?.() ? info : null
}

const MOST_ANCESTORS = 64

/**
 * Returns the pids of the parent, its parent and so on, without the first process of the system.
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

/**
 * Returns true while exactly this process runs. A later process with the same pid does not count.
 */
export function isAlive(identity: ProcessIdentity): boolean {
  return readProcess(identity.pid)?.startedAt === identity.startedAt
}

/**
 * Returns other processes of this user whose environment has an entry such as `BATON_HOME=/x`.
 * Empty on systems that do not show environments, such as macOS.
 */
export function processesWithVariable(entry: string): number[] {
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

/** Reads the environment of a process. Empty when it has ended or belongs to another user. */
function environmentOf(pid: string): string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
  } catch {
    return []
  }
}

/** Returns true while any process has this pid. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errorCodeOf(error) === 'EPERM'
  }
}

/** Returns the arguments of a process, its program first. Null when they cannot be read. */
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
    // The folder's owner is the effective user, even if the process may not be dumped.
    // The owner of the files in the folder is not (proc(5)).
    const owner = statSync(`/proc/${pid}`).uid
    return { pid, startedAt: ticks, startedAtMs: Number.isFinite(startedAtMs) ? startedAtMs : null, owner }
  } catch {
    return null
  }
}

/**
 * Returns the fields of `/proc/<pid>/stat` behind the name: state, parent, …
 * The name is in brackets and may itself contain brackets.
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
  // Loaded on demand: only macOS needs the module, which costs every hook three milliseconds.
  const { execFileSync } = process.getBuiltinModule('node:child_process')
  return execFileSync('ps', ['-o', column, '-p', String(pid)], {
    encoding: 'utf8',
    timeout: 1000,
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim()
}
