import { readdirSync, readFileSync, statSync } from 'node:fs'
import { platform } from 'node:os'
import { join } from 'node:path'
import { isAlive, isRunning } from '../../lib/process-info.js'
import { type Fields, number, parseObject, text } from './fields.js'

export type ClientStatus = 'idle' | 'busy' | 'waiting' | 'unknown'

/** What a running client says of itself, as it last wrote it. */
export interface LiveClient {
  pid: number
  /** Follows the client through `/clear` and `/resume`. */
  sessionId: string
  cwd: string | null
  /** `waiting`: a dialog is open. `unknown`: the client says something newer than this table. */
  status: ClientStatus
  /** What it waits for, in the client's words; null: it does not wait, or does not say. */
  waitingFor: string | null
  /** Where its screen is; null: not in tmux. */
  tmux: { session: string; window: string; pane: string } | null
  /** `interactive` for the terminal; print and SDK runs have other names. */
  kind: string | null
  entrypoint: string | null
  version: string | null
  /** The same as the process table says of its pid; null: the client does not say. */
  procStart: string | null
  /** Milliseconds since the epoch; null: not said. */
  updatedAt: number | null
}

const LARGEST_ENTRY = 64 * 1024
const STATUSES: readonly string[] = ['idle', 'busy', 'waiting']

/** null: no such client, or what is written under its pid was left by a process that is gone. */
export function liveClient(configDir: string, pid: number): LiveClient | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null
  const path = join(configDir, 'sessions', `${pid}.json`)
  // The client writes in place: an entry read while it is written is torn, and whole a moment later.
  const client = readEntry(path, pid) ?? readEntry(path, pid)
  return client !== null && isItsProcess(client) ? client : null
}

/** All clients that run now under one configuration folder; what cannot be read is left out. */
export function liveClients(configDir: string): LiveClient[] {
  let names: string[]
  try {
    names = readdirSync(join(configDir, 'sessions'))
  } catch {
    return []
  }
  return names
    .flatMap((name) => /^([1-9]\d*)\.json$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
    .flatMap((pid) => liveClient(configDir, pid) ?? [])
}

function readEntry(path: string, pid: number): LiveClient | null {
  try {
    const stat = statSync(path, { throwIfNoEntry: false })
    if (!stat?.isFile() || stat.size > LARGEST_ENTRY) return null
    const entry = parseObject(readFileSync(path, 'utf8'))
    return entry === null || entry.pid !== pid ? null : toClient(entry, pid)
  } catch {
    return null
  }
}

function toClient(entry: Fields, pid: number): LiveClient | null {
  const sessionId = text(entry.sessionId)
  if (sessionId === null) return null
  const status = text(entry.status) ?? ''
  return {
    pid,
    sessionId,
    cwd: text(entry.cwd),
    status: STATUSES.includes(status) ? (status as ClientStatus) : 'unknown',
    waitingFor: text(entry.waitingFor),
    tmux: placeFrom(text(entry.tmux)),
    kind: text(entry.kind),
    entrypoint: text(entry.entrypoint),
    version: text(entry.version),
    procStart: text(entry.procStart) ?? number(entry.procStart)?.toString() ?? null,
    updatedAt: number(entry.updatedAt),
  }
}

/** `work:@3.%7`; the name of a tmux session holds neither colon nor full stop. */
function placeFrom(value: string | null): LiveClient['tmux'] {
  const found = /^(.*):(@\d+)\.(%\d+)$/.exec(value ?? '')
  return found ? { session: found[1]!, window: found[2]!, pane: found[3]! } : null
}

/** Pids are given again. On Linux the client writes the same start in ticks as the process table has. */
function isItsProcess({ pid, procStart }: LiveClient): boolean {
  const ticks = platform() === 'linux' && procStart !== null && /^\d+$/.test(procStart)
  return ticks ? isAlive({ pid, startedAt: procStart }) : isRunning(pid)
}
