import { statSync } from 'node:fs'
import { platform } from 'node:os'
import { join } from 'node:path'
import { lookAtNamedFile, namesInFolder, readNamedText } from '../../lib/named-file.js'
import { isAlive, isRunning, ownProcess } from '../../lib/process-info.js'
import type { ClientRegistry } from '../agent.js'
import { type Fields, number, parseObject, text } from './fields.js'
import { configDirHolding, configDirOf } from './settings/read-settings.js'

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
const MOST_ENTRIES = 10_000
/** A client that was stopped in the middle of writing its entry goes on within this time, or was stopped for good. */
const WRITING_MS = 1000
const PAUSE_MS = 2
const STATUSES: readonly string[] = ['idle', 'busy', 'waiting']

/**
 * The registries in which a client of this session may stand: that of the folder the signal names,
 * and that of the folder the session's transcript is known to lie in. Null when neither client
 * keeps a registry: older clients do not.
 */
export function registryOf(env: Record<string, string>, transcriptPath: string | null): ClientRegistry | null {
  const folders = [configDirOf(env), configDirHolding(transcriptPath)]
  const kept = [...new Set(folders)].filter((folder) => folder !== null).filter(hasRegistry)
  if (kept.length === 0) return null
  return {
    sessionOf: (pid) =>
      kept.map((folder) => liveClient(folder, pid)?.sessionId ?? null).find((id) => id !== null) ?? null,
    clientsOf: (sessionId) =>
      kept.flatMap(liveClients).flatMap((client) => (client.sessionId === sessionId ? [client.pid] : [])),
  }
}

function hasRegistry(configDir: string): boolean {
  return statSync(join(configDir, 'sessions'), { throwIfNoEntry: false }) !== undefined
}

/**
 * Null when there is no such client of this user, or its entry was left by a process that is gone.
 */
export function liveClient(configDir: string, pid: number): LiveClient | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null
  const path = join(configDir, 'sessions', `${pid}.json`)
  const client = untilWhole(
    () => readEntry(path, pid),
    () => isBeingWritten(path) && ownProcess(pid) !== null,
  )
  return client !== null && isItsProcess(client) ? client : null
}

/**
 * The client writes its entry in place, so an entry that is read meanwhile is torn: it is read
 * again for as long as somebody writes it. On a busy machine the client may be stopped between
 * the two steps, mostly at the end of a turn, which is when a hook looks.
 */
export function untilWhole<Entry>(read: () => Entry | 'torn', isWritten: () => boolean): Entry | null {
  for (;;) {
    const entry = read()
    if (entry !== 'torn') return entry
    if (!isWritten()) return null
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS)
  }
}

function isBeingWritten(path: string): boolean {
  const looked = lookAtNamedFile(path, 'this-user')
  return !('refused' in looked) && Math.abs(Date.now() - looked.mtimeMs) < WRITING_MS
}

/** All clients that run now under one configuration folder; what cannot be read is left out. */
export function liveClients(configDir: string): LiveClient[] {
  return namesInFolder(join(configDir, 'sessions'), MOST_ENTRIES)
    .flatMap((name) => /^([1-9]\d*)\.json$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
    .flatMap((pid) => liveClient(configDir, pid) ?? [])
}

function readEntry(path: string, pid: number): LiveClient | 'torn' | null {
  const read = readNamedText(path, { owner: 'this-user', most: LARGEST_ENTRY })
  if (read === null) return null
  const entry = parseObject(read)
  if (entry === null) return 'torn'
  return entry.pid === pid ? toClient(entry, pid) : null
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
  return (ticks ? isAlive({ pid, startedAt: procStart }) : isRunning(pid)) && ownProcess(pid) !== null
}
