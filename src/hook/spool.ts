import { existsSync, readdirSync, readFileSync, statSync, unlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { RawSignal } from '../contract/signal.js'
import { codeOf } from '../lib/errors.js'

/** A signal kept in a file until the store has it. */
export interface Spooled {
  id: string
  path: string
  raw: RawSignal
}

const TORN_MS = 15_000

/** One signal by its id; null: not there, or not whole. */
export function readSpooled(dir: string, id: string): Spooled | null {
  if (!/^[\w.-]+$/.test(id)) return null
  const path = join(dir, id)
  const text = readIfThere(path)
  const raw = text === null ? null : parse(text)
  return raw ? { id, path, raw } : null
}

/** What lies in the spool, oldest first. A file still being written is left for later; one torn by a kill is dropped after a while. */
export function readSpool(dir: string, now: Date): Spooled[] {
  if (!existsSync(dir)) return []
  const found: Spooled[] = []
  for (const id of readdirSync(dir).sort(bySequence)) {
    const path = join(dir, id)
    const text = readIfThere(path)
    if (text === null) continue
    const raw = parse(text)
    if (raw) found.push({ id, path, raw })
    else if (now.getTime() - mtimeOf(path) > TORN_MS) dropSpooled(path)
  }
  return found
}

export function dropSpooled(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error
  }
}

/** `<session>.<seconds>.<micros>.<pid>.<kind>`: by time over all sessions. */
function bySequence(a: string, b: string): number {
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
  // The variables' lines end with a newline of their own, so one more may stand before the body.
  const body = text.slice(head + 2, -'\n#end\n'.length).replace(/^\n/, '')
  return { agent, kind, body, env, at: Number(seconds) * 1000 }
}

function readIfThere(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}

function mtimeOf(path: string): number {
  try {
    return statSync(path).mtimeMs
  } catch {
    return Date.now()
  }
}
