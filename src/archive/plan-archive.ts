import { linkSync } from 'node:fs'
import { join } from 'node:path'
import type { ArchivePart, ArchiveRecord, Trigger } from '../contract/records/archive.js'
import { reasonOf } from '../lib/errors.js'
import type { Log } from '../lib/log.js'
import type { Store } from '../store/store.js'
import { ensureFolder, type Places } from './archive-folders.js'
import { isoMicros, stemOf } from './file-name.js'
import { logArchive } from './log-archive.js'
import { type Looked, lookAtSource } from './look-at-source.js'

interface PlanDependencies {
  store: Store
  places: Places
  now(): Date
  newId(): string
  log: Log
  /** Microseconds within the millisecond; absent: the machine's own. */
  micros?(): number
}

interface PlanRequest {
  sessionId: string
  agent: string
  project: string | null
  trigger: Trigger
  /** The session's own transcript; null: the client did not say where it is. */
  transcript: string | null
  /** Its size when the signal was sent, where that is known: later bytes are not meant. */
  bytes?: number
  /** Lists the transcripts of its subagents. `name`: that of its file without the ending. */
  subagents(): readonly { name: string; path: string }[]
}

/** The files found where the transcripts of a session and of its subagents should be. */
interface LookedSources {
  main: Looked
  subagents: { name: string; path: string; looked: Looked }[]
}

/**
 * Looks at the transcripts that an archive is to hold. Reads files, so not to be called inside a
 * transaction.
 */
export function lookAtSources({ transcript, bytes, subagents }: Sources): LookedSources {
  const main = lookAtSource(transcript ?? '', bytes)
  return {
    main,
    subagents: main.ok ? subagents().map(({ name, path }) => ({ name, path, looked: lookAtSource(path) })) : [],
  }
}

type Sources = Pick<PlanRequest, 'transcript' | 'bytes' | 'subagents'>

/** The key of `lookAtSources` for `Store.readUnlocked`. */
export const sourcesKey = (transcript: string | null): string => `transcripts ${transcript}`

/**
 * Makes sure that what the transcripts hold now will be kept: writes a row and links the files, in time that does not depend on their size.
 * The bytes are copied later by `finishArchives`, in any process. To be called inside a transaction; throws only what the store throws.
 * null: there is no transcript that could be archived, and none was to be expected.
 */
export function planArchive(deps: PlanDependencies, request: PlanRequest): ArchiveRecord | null {
  const archiveId = `arc_${deps.newId()}`
  const planned: ArchivePart[] = []
  const { main, subagents } = deps.store.readUnlocked(sourcesKey(request.transcript), () => lookAtSources(request))
  const wanted = [{ name: '', path: request.transcript ?? '', looked: main }, ...subagents]
  for (const [at, { name, path, looked }] of wanted.entries()) {
    if (!looked.ok) planned.push(part(name, path, 0, '', null, looked.trouble))
    else {
      const link = looked.bytes === 0 ? null : linked(deps, `${archiveId}.${at}`, looked.path)
      planned.push(part(name, looked.path, looked.bytes, looked.mark, link, null))
    }
  }
  const { sessionId, agent, project, trigger } = request
  const record: ArchiveRecord = {
    archiveId,
    sessionId,
    agent,
    project,
    trigger,
    createdAt: '',
    stem: '',
    ...(main.ok ? { writtenAt: new Date(main.writtenMs).toISOString() } : {}),
    status: main.ok ? 'pending' : 'failed',
    reason: main.ok ? null : main.trouble,
    attempts: 0,
    retryAt: null,
    lease: null,
    indexed: false,
    parts: planned,
  }
  const isLeftOut = !main.ok && mayBeLeftOut(trigger, main)
  if (!main.ok && !(isLeftOut && main.absent)) logArchive(deps.log, record, { missing: main.trouble })
  return isLeftOut ? null : put(deps, record)
}

/**
 * A session that never began leaves no transcript at its end. Sweeps and imports look at the same
 * files again and again, and would leave a failed archive each time.
 */
function mayBeLeftOut(trigger: Trigger, { absent }: { absent: boolean }): boolean {
  return trigger === 'sweep' || trigger === 'import' || (absent && trigger === 'session-end')
}

function part(
  name: string,
  path: string,
  bytes: number,
  mark: string,
  link: string | null,
  trouble: string | null,
): ArchivePart {
  return { name, path, bytes, mark, link, streamId: null, sha256: null, trouble }
}

/** null: the disk or its rights do not allow it; then the transcript itself has to stay until it is kept. */
function linked({ places, log }: PlanDependencies, name: string, path: string): string | null {
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
function put(deps: PlanDependencies, record: ArchiveRecord): ArchiveRecord {
  const within = deps.micros?.() ?? Math.floor((performance.timeOrigin + performance.now()) * 1000) % 1000
  for (let micros = deps.now().getTime() * 1000 + within; ; micros++) {
    const named = { ...record, createdAt: isoMicros(micros), stem: stemOf(record.sessionId, micros, record.trigger) }
    try {
      deps.store.putArchive(named)
      return named
    } catch (error) {
      if (!deps.store.archives().some(({ stem }) => stem === named.stem)) throw error
    }
  }
}
