import type { Trigger } from '../contract/archive.js'
import { shortHash } from './short-hash.js'

export const SUFFIX = '.jsonl.br'
const SAFE = /^[A-Za-z0-9][A-Za-z0-9.-]{0,79}$/

/** A name a file system takes as it is. What is not such a name keeps its readable part and gets a mark that tells it from others. */
export function safeName(name: string): string {
  if (SAFE.test(name)) return name
  const readable = name.replace(/[^A-Za-z0-9.-]+/g, '-').replace(/^[.-]+/, '')
  return `${readable.slice(0, 60)}-${shortHash(Buffer.from(name)).slice(0, 10)}`
}

/** Microseconds since the epoch as ISO 8601: `2026-11-15T22:54:48.123456Z`. */
export function isoMicros(micros: number): string {
  const ms = Math.floor(micros / 1000)
  return new Date(ms).toISOString().replace('Z', `${String(micros - ms * 1000).padStart(3, '0')}Z`)
}

/** What an archive's files are called, without the part and the suffix: `{session}_{UTC with microseconds}_{trigger}`. */
export function stemOf(sessionId: string, micros: number, trigger: Trigger): string {
  return `${safeName(sessionId)}_${isoMicros(micros).replace(/[-:]/g, '')}_${trigger}`
}

/** `part` is '' for the session's own transcript. */
export function fileName(stem: string, part: string): string {
  return `${stem}${part === '' ? '' : `_${safeName(part)}`}${SUFFIX}`
}
