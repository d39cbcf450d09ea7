import { existsSync, mkdirSync, readdirSync, renameSync, statSync, unlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { RawSignal } from '../contract/signal.js'
import { errorCodeOf } from '../lib/errors.js'
import { readNamedText } from '../lib/named-file.js'
import { isRunning } from '../lib/process-info.js'

/** A signal that is stored in a file until the store has it. */
export interface SpooledSignal {
  id: string
  path: string
  raw: RawSignal
}

const TORN_MS = 15_000
const LARGEST_SIGNAL = 256 * 1024 * 1024

/** Lists the ids of spooled signals, oldest first, without those younger than `youngestMs`. */
export function listSpool(dir: string, now: Date, youngestMs = 0): string[] {
  if (!existsSync(dir)) return []
  const ids = readdirSync(dir).sort(compareByTime)
  return youngestMs === 0
    ? ids
    : ids.filter((id) => now.getTime() / 1000 - Number(id.split('.')[1]) >= youngestMs / 1000)
}

/**
 * Maximum time that a hook waits for its engine.
 * A process that lives longer than this under the same pid is another one.
 */
const AWAITED_MS = 30_000

/**
 * Returns whether the answer to this signal must be given immediately.
 * Only these events reach a compaction's summariser or the session after it.
 * The names come from `launcher.sh`.
 */
export function needsImmediateAnswer(id: string): boolean {
  return /\.(PreCompact|SessionStart-(compact|clear))$/.test(id)
}

/** Returns whether the hook of this signal still waits for the answer of its own engine. */
export function isHookWaiting(id: string, now: Date): boolean {
  const [, seconds, , pid] = id.split('.')
  return (
    (needsImmediateAnswer(id) || id.endsWith('-now')) &&
    now.getTime() - Number(seconds) * 1000 < AWAITED_MS &&
    isRunning(Number(pid))
  )
}

/**
 * Reads one signal.
 * Null when the signal is gone or incomplete, or the id is no signal's name.
 * A signal torn by a kill is deleted after 15 seconds.
 */
export function readSpooled(dir: string, id: string, now = new Date()): SpooledSignal | null {
  if (!/^[\w.-]+$/.test(id)) return null
  const path = join(dir, id)
  const text = readIfThere(path)
  if (text === null) return null
  const raw = parse(text)
  if (raw) return { id, path, raw: { ...raw, at: momentOf(id) ?? raw.at } }
  if (now.getTime() - mtimeOf(path) > TORN_MS) dropSpooled(path)
  return null
}

/** Returns the session id with which a spooled signal's name begins. */
export function sessionOfSpooled(id: string): string {
  return id.split('.', 1)[0]!
}

/**
 * Returns when the hook ran, in milliseconds, because two compactions can occur in one second.
 * Null when its shell has only a clock of seconds.
 */
function momentOf(id: string): number | null {
  const [, seconds = '', micros = ''] = id.split('.')
  return /^\d+$/.test(seconds) && /^\d{6}$/.test(micros)
    ? Number(seconds) * 1000 + Math.floor(Number(micros) / 1000)
    : null
}

/** Moves a signal that can never be processed into the folder `aside`, where it can be examined. */
export function moveSignalAside(path: string): void {
  const aside = join(dirname(dirname(path)), 'aside')
  mkdirSync(aside, { recursive: true, mode: 0o700 })
  renameSync(path, join(aside, basename(path)))
}

export function dropSpooled(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (errorCodeOf(error) !== 'ENOENT') throw error
  }
}

/** Orders `<session>.<seconds>.<micros>.<pid>.<kind>` by time over all sessions. */
export function compareByTime(a: string, b: string): number {
  const [, as = '', au = ''] = a.split('.')
  const [, bs = '', bu = ''] = b.split('.')
  return `${as}.${au}` < `${bs}.${bu}` ? -1 : 1
}

function parse(text: string): RawSignal | null {
  if (!text.endsWith('\n#end\n')) return null
  const head = text.indexOf('\n\n')
  const [agent = '', kind = '', seconds = '', ...lines] = text.slice(0, head).split('\n')
  const env: Record<string, string> = {}
  for (const line of lines) {
    const cut = line.indexOf('=')
    if (cut > 0) env[line.slice(0, cut)] = line.slice(cut + 1)
  }
  // The variables' lines end with their own newline, so one more may precede the body.
  const body = text.slice(head + 2, -'\n#end\n'.length).replace(/^\n/, '')
  return { agent, kind, body, env, at: Number(seconds) * 1000 }
}

/**
 * Reads a file.
 * Null when the file is missing or not of this user, because another user could have created it.
 */
function readIfThere(path: string): string | null {
  return readNamedText(path, { owner: 'this-user', most: LARGEST_SIGNAL })
}

function mtimeOf(path: string): number {
  try {
    return statSync(path).mtimeMs
  } catch {
    return Date.now()
  }
}
