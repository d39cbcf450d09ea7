import { linkSync } from 'node:fs'
import { join } from 'node:path'
import type { ArchivePart, ArchiveRecord, Trigger } from '../contract/archive.js'
import { reasonOf } from '../lib/errors.js'
import type { Log } from '../lib/log.js'
import type { Store } from '../store/store.js'
import { isoMicros, stemOf } from './file-name.js'
import { lookAtSource } from './look-at-source.js'
import { ensureFolder, type Places } from './places.js'

export interface PlanParts {
  store: Store
  places: Places
  now(): Date
  newId(): string
  log: Log
  /** Microseconds within the millisecond; absent: the machine's own. */
  micros?(): number
}

export interface PlanRequest {
  sessionId: string
  agent: string
  project: string | null
  trigger: Trigger
  /** The session's own transcript; null: the client did not say where it is. */
  transcript: string | null
  /** Its size when the signal was sent, where that is known: later bytes are not meant. */
  bytes?: number
  /** `name`: that of its file without the ending. */
  subagents: readonly { name: string; path: string }[]
}

/**
 * Makes sure that what the transcripts hold now will be kept: writes a row and links the files, in time that does not depend on their size.
 * The bytes are copied later by `finishArchives`, in any process. To be called inside a transaction; throws only what the store throws.
 * null: there is no transcript, and none was to be expected.
 */
export function planArchive(parts: PlanParts, request: PlanRequest): ArchiveRecord | null {
  const archiveId = `arc_${parts.newId()}`
  const planned: ArchivePart[] = []
  const main = lookAtSource(request.transcript ?? '', request.bytes)
  if (!main.ok && main.absent && request.trigger === 'session-end') return null
  const wanted = [{ name: '', path: request.transcript ?? '' }, ...(main.ok ? request.subagents : [])]
  for (const [at, { name, path }] of wanted.entries()) {
    const looked = at === 0 ? main : lookAtSource(path)
    if (!looked.ok) planned.push(part(name, path, 0, '', null, looked.trouble))
    else {
      const link = looked.bytes === 0 ? null : linked(parts, `${archiveId}.${at}`, looked.path)
      planned.push(part(name, looked.path, looked.bytes, looked.mark, link, null))
    }
  }
  const { sessionId, agent, project, trigger } = request
  return put(parts, {
    ...{ archiveId, sessionId, agent, project, trigger, createdAt: '', stem: '' },
    status: main.ok ? 'pending' : 'failed',
    reason: main.ok ? null : main.trouble,
    ...{ attempts: 0, retryAt: null, lease: null, indexed: false, parts: planned },
  })
}

function part(name: string, path: string, bytes: number, mark: string, link: string | null, trouble: string | null): ArchivePart {
  return { name, path, bytes, mark, link, streamId: null, sha256: null, trouble }
}

/** null: the disk or its rights do not allow it; then the transcript itself has to stay until it is kept. */
function linked({ places, log }: PlanParts, name: string, path: string): string | null {
  try {
    ensureFolder(places.folder)
    ensureFolder(places.links)
    linkSync(path, join(places.links, name))
    return name
  } catch (error) {
    log('debug', 'a transcript could not be linked', { path, reason: reasonOf(error) })
    return null
  }
}

/** Two archives of one session may be planned in the same microsecond: the later one waits for the next. */
function put(parts: PlanParts, record: ArchiveRecord): ArchiveRecord {
  const within = parts.micros?.() ?? Math.floor((performance.timeOrigin + performance.now()) * 1000) % 1000
  for (let micros = parts.now().getTime() * 1000 + within; ; micros++) {
    const named = { ...record, createdAt: isoMicros(micros), stem: stemOf(record.sessionId, micros, record.trigger) }
    try {
      parts.store.putArchive(named)
      return named
    } catch (error) {
      if (!parts.store.archives().some(({ stem }) => stem === named.stem)) throw error
    }
  }
}
