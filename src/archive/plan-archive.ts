import { linkSync } from 'node:fs'
import { join } from 'node:path'
import type { ArchivePart, ArchiveRecord, ArchiveTrigger } from '../contract/records/archive.js'
import { reasonOf } from '../lib/errors.js'
import type { Log } from '../lib/log.js'
import type { Store } from '../store/store.js'
import { type ArchivePaths, ensureFolder } from './archive-folders.js'
import { archiveFileStem, formatMicros } from './file-name.js'
import { logArchive } from './log-archive.js'
import { checkSource, type SourceState } from './look-at-source.js'

interface PlanDependencies {
  store: Store
  places: ArchivePaths
  now(): Date
  newId(): string
  log: Log
  /** Microseconds within the millisecond. Absent to use the machine's clock. */
  micros?(): number
}

interface PlanRequest {
  sessionId: string
  agent: string
  project: string | null
  /** Title of the session, as in `ArchiveRecord`. */
  title?: string | null
  trigger: ArchiveTrigger
  /** Path of the session's own transcript. Null when the client did not report it. */
  transcript: string | null
  /** Size of the transcript when the signal was sent, if known. Later bytes are not archived. */
  bytes?: number
  /** Lists the transcripts of subagents. `name` is the file's name without its extension. */
  subagents(): readonly { name: string; path: string }[]
}

/** Files found at the paths of a session's transcripts. */
interface SourceStates {
  main: SourceState
  subagents: { name: string; path: string; looked: SourceState }[]
}

/**
 * Checks the transcripts that an archive will contain.
 * Reads files, so the function must not be called inside a transaction.
 */
export function checkSources({ transcript, bytes, subagents }: Sources): SourceStates {
  const main = checkSource(transcript ?? '', bytes)
  return {
    main,
    subagents: main.ok ? subagents().map(({ name, path }) => ({ name, path, looked: checkSource(path) })) : [],
  }
}

type Sources = Pick<PlanRequest, 'transcript' | 'bytes' | 'subagents'>

/** Key of `lookAtSources` for `Store.readUnlocked`. */
export const sourcesKey = (transcript: string | null): string => `transcripts ${transcript}`

/**
 * Plans an archive: stores a row and links the transcripts, in time independent of their size.
 * `finishArchives` copies the bytes later, in any process.
 * Call the function inside a transaction. Throws only errors of the store.
 * Null when there is no transcript and none was expected.
 */
export function planArchive(deps: PlanDependencies, request: PlanRequest): ArchiveRecord | null {
  const archiveId = `arc_${deps.newId()}`
  const planned: ArchivePart[] = []
  const { main, subagents } = deps.store.readUnlocked(sourcesKey(request.transcript), () => checkSources(request))
  const wanted = [{ name: '', path: request.transcript ?? '', looked: main }, ...subagents]
  for (const [at, { name, path, looked }] of wanted.entries()) {
    if (!looked.ok) planned.push(part(name, path, 0, '', null, looked.trouble))
    else {
      const link = looked.bytes === 0 ? null : linkTranscript(deps, `${archiveId}.${at}`, looked.path)
      planned.push(part(name, looked.path, looked.bytes, looked.mark, link, null))
    }
  }
  const { sessionId, agent, project, title, trigger } = request
  const record: ArchiveRecord = {
    archiveId,
    sessionId,
    agent,
    project,
    ...(title ? { title } : {}),
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
  const isOmitted = !main.ok && isExpectedMissing(trigger, main)
  if (!main.ok && !(isOmitted && main.absent)) logArchive(deps.log, record, { missing: main.trouble })
  return isOmitted ? null : storeUnderUniqueName(deps, record)
}

/**
 * True when a missing transcript should not cause a failed archive.
 * A session that never began has no transcript at its end.
 * Imports and the hourly search check the same files repeatedly and would fail each time.
 */
function isExpectedMissing(trigger: ArchiveTrigger, { absent }: { absent: boolean }): boolean {
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

/**
 * Creates a hard link to a transcript. Null when the disk or its permissions do not allow it.
 * Without a link, the transcript itself must stay until it is copied.
 */
function linkTranscript({ places, log }: PlanDependencies, name: string, path: string): string | null {
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

/**
 * Stores the record under a unique name.
 * If an archive of this session has the same microsecond, the next free one is used.
 */
function storeUnderUniqueName(deps: PlanDependencies, record: ArchiveRecord): ArchiveRecord {
  const within = deps.micros?.() ?? Math.floor((performance.timeOrigin + performance.now()) * 1000) % 1000
  for (let micros = deps.now().getTime() * 1000 + within; ; micros++) {
    const named = {
      ...record,
      createdAt: formatMicros(micros),
      stem: archiveFileStem(record.sessionId, micros, record.trigger),
    }
    try {
      deps.store.putArchive(named)
      return named
    } catch (error) {
      if (!deps.store.archives().some(({ stem }) => stem === named.stem)) throw error
    }
  }
}
