import { statSync } from 'node:fs'
import { platform } from 'node:os'
import { join } from 'node:path'
import { lookAtNamedFile, namesInFolder, readNamedText } from '../../lib/named-file.js'
import { isAlive, isRunning, processOfThisUser } from '../../lib/process-info.js'
import type { ClientRegistry } from '../agent.js'
import { asNumber, asText, type Fields, parseObject } from './fields.js'
import { configDirFromEnvironment, configDirOfTranscript } from './settings/read-settings.js'

export type ClientStatus = 'idle' | 'busy' | 'waiting' | 'unknown'

/** A running client's entry about itself, as last written. */
export interface RegisteredClient {
  pid: number
  /** Current session: changes with `/clear` and `/resume`. */
  sessionId: string
  cwd: string | null
  /**
   * `waiting` when a dialog is open, `unknown` for a status that Baton does not know.
   */
  status: ClientStatus
  /** The reason for waiting, in the client's words. Null when it does not wait, or does not say. */
  waitingFor: string | null
  /** The tmux pane of the client. Null outside tmux. */
  tmux: { session: string; window: string; pane: string } | null
  /** `interactive` in a terminal. Print and SDK runs have other kinds. */
  kind: string | null
  entrypoint: string | null
  version: string | null
  /** Start time of the process, as in the process table. Null when the client does not write it. */
  procStart: string | null
  /** Milliseconds since the epoch. Null when not given. */
  updatedAt: number | null
}

const LARGEST_ENTRY = 64 * 1024
const MOST_ENTRIES = 10_000
/**
 * Time within which a client that the system paused during a write continues.
 * After this time, the client counts as stopped for good.
 */
const WRITING_MS = 1000
const PAUSE_MS = 2
const STATUSES: readonly string[] = ['idle', 'busy', 'waiting']

/**
 * Returns the registries that may list a client of this session.
 * Registries are in the folder that the signal names and in the transcript's folder.
 * Null when neither registry exists, as with older clients.
 */
export function clientRegistryOf(env: Record<string, string>, transcriptPath: string | null): ClientRegistry | null {
  const folders = [configDirFromEnvironment(env), configDirOfTranscript(transcriptPath)]
  const kept = [...new Set(folders)].filter((folder) => folder !== null).filter(hasRegistry)
  if (kept.length === 0) return null
  return {
    sessionOf: (pid) =>
      kept.map((folder) => readRegisteredClient(folder, pid)?.sessionId ?? null).find((id) => id !== null) ?? null,
    clientsOf: (sessionId) =>
      kept.flatMap(listRegisteredClients).flatMap((client) => (client.sessionId === sessionId ? [client.pid] : [])),
  }
}

function hasRegistry(configDir: string): boolean {
  return statSync(join(configDir, 'sessions'), { throwIfNoEntry: false }) !== undefined
}

/**
 * Reads a client's entry. Null when there is no such client of this user, or its process is gone.
 */
export function readRegisteredClient(configDir: string, pid: number): RegisteredClient | null {
  if (!Number.isSafeInteger(pid) || pid <= 0) return null
  const path = join(configDir, 'sessions', `${pid}.json`)
  const client = readUntilComplete(
    () => readEntry(path, pid),
    () => isBeingWritten(path) && processOfThisUser(pid) !== null,
  )
  return client !== null && isItsProcess(client) ? client : null
}

/**
 * Reads a client's entry until it is complete.
 * The client does not write atomically, so an incomplete entry is read again.
 * On a busy machine the system can pause a client during the write, mostly when a turn ends.
 */
export function readUntilComplete<Entry>(read: () => Entry | 'torn', isWritten: () => boolean): Entry | null {
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

/** Lists all clients that run under one configuration folder. Unreadable entries are omitted. */
export function listRegisteredClients(configDir: string): RegisteredClient[] {
  return namesInFolder(join(configDir, 'sessions'), MOST_ENTRIES)
    .flatMap((name) => /^([1-9]\d*)\.json$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b)
    .flatMap((pid) => readRegisteredClient(configDir, pid) ?? [])
}

function readEntry(path: string, pid: number): RegisteredClient | 'torn' | null {
  const read = readNamedText(path, { owner: 'this-user', most: LARGEST_ENTRY })
  if (read === null) return null
  const entry = parseObject(read)
  if (entry === null) return 'torn'
  return entry.pid === pid ? toClient(entry, pid) : null
}

function toClient(entry: Fields, pid: number): RegisteredClient | null {
  const sessionId = asText(entry.sessionId)
  if (sessionId === null) return null
  const status = asText(entry.status) ?? ''
  return {
    pid,
    sessionId,
    cwd: asText(entry.cwd),
    status: STATUSES.includes(status) ? (status as ClientStatus) : 'unknown',
    waitingFor: asText(entry.waitingFor),
    tmux: placeFrom(asText(entry.tmux)),
    kind: asText(entry.kind),
    entrypoint: asText(entry.entrypoint),
    version: asText(entry.version),
    procStart: asText(entry.procStart) ?? asNumber(entry.procStart)?.toString() ?? null,
    updatedAt: asNumber(entry.updatedAt),
  }
}

/**
 * Parses a pane such as `work:@3.%7`. The name of a tmux session has neither colon nor full stop.
 */
function placeFrom(value: string | null): RegisteredClient['tmux'] {
  const found = /^(.*):(@\d+)\.(%\d+)$/.exec(value ?? '')
  return found ? { session: found[1]!, window: found[2]!, pane: found[3]! } : null
}

/**
 * Returns whether the entry's process still runs.
 * Pids are reused, so on Linux the start time in ticks is compared too.
 */
function isItsProcess({ pid, procStart }: RegisteredClient): boolean {
  const ticks = platform() === 'linux' && procStart !== null && /^\d+$/.test(procStart)
  return (ticks ? isAlive({ pid, startedAt: procStart }) : isRunning(pid)) && processOfThisUser(pid) !== null
}
