import { ARCHIVE_TRIGGERS, type ArchiveTrigger } from '../contract/records/archive.js'

export const ARCHIVE_SUFFIX = '.jsonl.br'
const SAFE = /^[A-Za-z0-9][A-Za-z0-9.-]{0,79}$/

/**
 * Returns a name that every file system accepts.
 * A name with other characters keeps its readable part and gets a hash of the whole.
 */
export function safeName(name: string): string {
  if (SAFE.test(name)) return name
  const readable = name.replace(/[^A-Za-z0-9.-]+/g, '-').replace(/^[.-]+/, '')
  return `${readable.slice(0, 60)}-${shortHash(Buffer.from(name)).slice(0, 10)}`
}

/** Formats microseconds since the epoch as ISO 8601: `2026-11-15T22:54:48.123456Z`. */
export function formatMicros(micros: number): string {
  const ms = Math.floor(micros / 1000)
  return new Date(ms).toISOString().replace('Z', `${String(micros - ms * 1000).padStart(3, '0')}Z`)
}

/**
 * Returns the common start of an archive's file names:
 * `{session}_{UTC with microseconds}_{trigger}`.
 */
export function archiveFileStem(sessionId: string, micros: number, trigger: ArchiveTrigger): string {
  return `${safeName(sessionId)}_${formatMicros(micros).replace(/[-:]/g, '')}_${trigger}`
}

/** Returns the name of an archive file. `part` is '' for the session's own transcript. */
export function fileName(stem: string, part: string): string {
  return `${stem}${part === '' ? '' : `_${safeName(part)}`}${ARCHIVE_SUFFIX}`
}

const SHAPE = new RegExp(
  String.raw`^([A-Za-z0-9-][A-Za-z0-9.-]*)_(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d\.\d{6})Z_([a-z-]+)` +
    '(?:_([A-Za-z0-9-][A-Za-z0-9.-]*))?$',
)

export interface NamedFile {
  stem: string
  /** Session id, or the result of `safeName` for the session id. */
  session: string
  createdAt: string
  /** Null when this version does not know the trigger. */
  trigger: ArchiveTrigger | null
  /** Name of the transcript as in `ArchivePart`, or the result of `safeName` for it. */
  part: string
}

/** Parses the name of an archive file. Null when it is not such a name. */
export function parseFileName(file: string): NamedFile | null {
  if (!file.endsWith(ARCHIVE_SUFFIX)) return null
  const found = SHAPE.exec(file.slice(0, -ARCHIVE_SUFFIX.length))
  if (!found) return null
  const [whole, session, year, month, day, hour, minute, second, trigger, part = ''] = found as unknown as string[]
  const createdAt = `${year}-${month}-${day}T${hour}:${minute}:${second}Z`
  if (Number.isNaN(Date.parse(createdAt))) return null
  return {
    stem: part === '' ? whole! : whole!.slice(0, -part.length - 1),
    session: session!,
    createdAt,
    trigger: ARCHIVE_TRIGGERS.find((one) => one === trigger) ?? null,
    part,
  }
}

/**
 * Returns a 53-bit hash as hexadecimal digits: for distinguishing, not for security.
 * Imports no module, so that hooks stay fast.
 */
export function shortHash(bytes: Uint8Array): string {
  let a = 0xdeadbeef
  let b = 0x41c6ce57
  for (const byte of bytes) {
    a = Math.imul(a ^ byte, 2654435761)
    b = Math.imul(b ^ byte, 1597334677)
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909)
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909)
  return (4294967296 * (2097151 & b) + (a >>> 0)).toString(16).padStart(14, '0')
}
