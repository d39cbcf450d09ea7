import { isAbsolute, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { transcriptReaders } from '../agents/readers.js'
import type { CleanupPeriod } from '../agents/transcript-reader.js'
import { type Archives, type FinishOptions, makeArchives, type RemovedArchives } from '../archive/archive.js'
import { DamagedArchive } from '../archive/blocks.js'
import { archiveFilter, findArchivePart } from '../archive/choose-archives.js'
import { type LineStart, readTranscript } from '../archive/read-transcript.js'
import { startTimeLimit, type TimeLimit } from '../archive/time-limit.js'
import { DEFAULT_AGENT } from '../contract/agent-ids.js'
import type { ArchiveView, HitsView, TranscriptPart } from '../contract/api/archives.js'
import type { ParsedBody, ReplyOf } from '../contract/api/routes.js'
import type { Archive, ArchiveRecord } from '../contract/records/archive.js'
import type { SessionRecord } from '../contract/records/session.js'
import type { App } from '../engine/open-engine.js'
import { BatonError, EXIT, reasonOf } from '../lib/errors.js'
import type { Store } from '../store/store.js'
import type { OwnProgram } from './own-program.js'

/**
 * Opens the archives of the app with the readers of transcripts.
 * Separate from `engine/open-engine.ts`, because a hook only plans archives.
 */
export function archivesOf(app: App): Archives {
  return makeArchives({
    store: app.store,
    root: app.home.root,
    now: app.now,
    newId: app.newId,
    log: app.log,
    readerOf(agent, chain) {
      const read = transcriptReaders[agent]?.entriesOfLine
      return read ? (line, number) => read(line, number, chain) : null
    },
    // Archives without record files were made when only one agent existed.
    legacy: {
      agent: DEFAULT_AGENT,
      projectOfLine: (line) => transcriptReaders[DEFAULT_AGENT]?.folderOfLine(line) ?? null,
    },
  })
}

/** Writes the planned archives and stores an event for each. */
export function finishArchives(
  app: App,
  archives: Archives,
  options: Pick<FinishOptions, 'progress' | 'limit' | 'sessionId'> = {},
): ArchiveRecord[] {
  return archives.finish({
    ...options,
    onSettled(record) {
      const event = archives.createdEvent(record)
      if (event) app.store.addEvent(event)
    },
  })
}

/**
 * Deletes archives that exceed the configured limits.
 * Deletes archives of transcripts that a configured cleanup period covers.
 */
export function retainArchives(app: App, archives: Archives): RemovedArchives {
  const policy = (project: string | null) =>
    app.policyOf({ agent: DEFAULT_AGENT, project, model: null, seat: null }).policy.archive
  const configured = archives.retain(policy)
  const expired = archives.expire(expiredAt(app.now()))
  for (const { archive_id: archive, session_id: session } of expired.archives)
    app.log('info', 'an archive was removed: its transcript is older than cleanupPeriodDays', { archive, session })
  return {
    archives: [...configured.archives, ...expired.archives],
    freedBytes: configured.freedBytes + expired.freedBytes,
  }
}

const DAY_MS = 24 * 3_600_000

/**
 * Returns whether an archive exceeds the cleanup period that a user or administrator set.
 * The client's default does not count, because archives should outlive that period.
 */
function expiredAt(now: Date): (record: ArchiveRecord) => boolean {
  return ({ agent, parts: [main], writtenAt, createdAt }) => {
    const period = transcriptReaders[agent]?.cleanupPeriod(main?.path ?? null)
    if (!period || period.setBy === null) return false
    return now.getTime() - Date.parse(writtenAt ?? createdAt) > period.days * DAY_MS
  }
}

/** Returns the cleanup periods that limit these archives, each once. */
export function cleanupLimits(records: readonly ArchiveRecord[]): CleanupPeriod[] {
  const limits = new Map<string, CleanupPeriod>()
  for (const { agent, parts } of records) {
    const period = transcriptReaders[agent]?.cleanupPeriod(parts[0]?.path ?? null)
    if (period && period.setBy !== null) limits.set(period.setBy, period)
  }
  return [...limits.values()]
}

/** Reports the progress of long work. */
export interface ProgressReport {
  /** Adds bytes that are done to the progress of `what`. */
  add(what: string, bytes: number): void
  /** Removes the progress line. */
  end(): void
}

/** Progress that is not shown. */
export const NO_PROGRESS: ProgressReport = { add() {}, end() {} }

export interface OpenedArchives {
  app: App
  archives: Archives
  progress: ProgressReport
}

const PROGRESS_LABELS = { keep: 'archiving transcripts:', index: 'indexing archives:' }

/** Returns archives whose search shows progress, because it may have to rebuild a lost index. */
export function withProgress(archives: Archives, progress: ProgressReport): Archives {
  return {
    ...archives,
    search(request) {
      const hits = archives.search({ progress: (bytes) => progress.add(PROGRESS_LABELS.index, bytes), ...request })
      progress.end()
      return hits
    },
  }
}

export function finishAll(
  { app, archives, progress }: OpenedArchives,
  limit?: FinishOptions['limit'],
): ArchiveRecord[] {
  const report = (what: keyof typeof PROGRESS_LABELS, bytes: number): void => progress.add(PROGRESS_LABELS[what], bytes)
  return finishArchives(app, archives, { progress: report, ...(limit ? { limit } : {}) })
}

interface ArchiveQuery {
  session?: string | undefined
  project?: string | undefined
  limit?: number | undefined
}

export interface ArchiveUseCases {
  archives(query: ArchiveQuery): ReplyOf<'archives'>
  archive(id: string): ArchiveView
  /**
   * Reads a page of the transcript.
   * `before` selects the last entries before this line, null those after `from`.
   * `whole` returns texts without shortening them.
   */
  transcript(
    id: string,
    page: { from: number; before: number | null; limit: number; subagent: string | null; whole: boolean },
  ): Promise<TranscriptPart>
  search(query: ArchiveQuery & { q: string }): Promise<HitsView>
  restore(id: string, order: ParsedBody<'restoreArchive'>): Promise<ReplyOf<'restoreArchive'>>
  forget(record: SessionRecord): Promise<ReplyOf<'forget'>>
}

const USUAL_ARCHIVES = 200
const USUAL_HITS = 20
/** Number of transcripts whose line offsets are cached. */
const MOST_PLACES = 50

export function archiveUseCases(app: App, program: OwnProgram): ArchiveUseCases {
  const { store } = app
  let archives = archivesOf(app)
  const places = new Map<string, LineStart[]>()
  const placesOf = (streamId: string): LineStart[] => {
    const known = places.get(streamId) ?? []
    if (places.size > MOST_PLACES) places.clear()
    places.set(streamId, known)
    return known
  }
  return {
    archives({ session, project, limit = USUAL_ARCHIVES }) {
      const wanted = archiveFilter(app, { session: session ?? null, folder: project ?? null })
      const records = store.archives().filter(wanted).slice(-limit)
      const sizes = archives.sizes()
      return { archives: archives.view(records).reverse(), total_bytes: sizes.bytes, index_bytes: sizes.indexBytes }
    },
    archive: (id) => archives.view([archives.find(id)])[0]!,
    async transcript(id, { from, before, limit, subagent, whole }) {
      const record = archives.find(id)
      const part = findArchivePart(record, subagent)
      const read = transcriptReaders[record.agent]?.entriesOfLine
      const chain = subagent === null ? 'main' : 'subagent'
      const head = { archive_id: record.archiveId, subagent: subagent === null ? null : part.name }
      if (part.streamId === null || !read)
        return { ...head, entries: [], next_line: null, previous_line: null, lines: null }
      const segments = archives.segments(part.streamId)
      const page = await readTranscript(archives.blocks, {
        segments,
        bytes: part.bytes,
        from,
        before,
        limit,
        whole,
        places: placesOf(part.streamId),
        read: (line, number) => read(line, number, chain),
      }).catch(explain(record))
      return { ...head, ...page }
    },
    async search({ q, session, project, limit }) {
      const among = [
        ...(session === undefined ? [] : [`--session=${session}`]),
        ...(project === undefined ? [] : [`--project=${project}`]),
      ]
      const words = ['archive', '--json', `--limit=${limit ?? USUAL_HITS}`, ...among, 'search', '-']
      return (await program.command(words, q)) as Awaited<ReturnType<ArchiveUseCases['search']>>
    },
    async restore(id, { to, force, subagent }) {
      const { archiveId } = archives.find(id)
      const path = placeFor(to, program.env.HOME)
      const options = [
        `--to=${path}`,
        ...(force ? ['--force'] : []),
        ...(subagent === null ? [] : [`--subagent=${subagent}`]),
      ]
      const words = ['archive', '--json', ...options, 'restore', '--', archiveId]
      const { bytes, sha256 } = (await program.command(words)) as { bytes: number; sha256: string | null }
      return { archive_id: archiveId, path, bytes, sha256 }
    },
    async forget({ sessionId }) {
      const words = ['archive', '--json', 'forget', '--', sessionId]
      const done = (await program.command(words)) as { archives: unknown[]; freed_bytes: number; words: number }
      // Recently unpacked transcripts are cached, so drop the cache too.
      archives.close()
      archives = archivesOf(app)
      places.clear()
      return { session_id: sessionId, archives: done.archives.length, freed_bytes: done.freed_bytes, words: done.words }
    },
  }
}

function explain({ archiveId }: ArchiveRecord): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof DamagedArchive)) throw error
    throw new BatonError(
      `${archiveId} cannot be read: ${error.message}.`,
      'Run baton archive verify to find all damaged archives.',
      EXIT.refused,
    )
  }
}

/**
 * Returns the target path.
 * Requires an absolute path, because the caller does not know the server's folder.
 */
function placeFor(to: string, userHome: string | undefined): string {
  const path = to.startsWith('~/') && userHome ? join(userHome, to.slice(2)) : to
  if (isAbsolute(path) && !/[\x00-\x1f]/.test(path)) return path
  throw new BatonError(
    'to: must be an absolute path.',
    'Give a path such as /home/me/transcript.jsonl or ~/transcript.jsonl.',
    EXIT.usage,
  )
}

/** An archive that was made on request. */
interface RequestedArchive {
  archive: Archive
  /** Why the archive is not stored, as an error. Null when it is kept. */
  problem: BatonError | null
}

/**
 * Archives a session's transcript now, and those of its subagents.
 * The archive is pending when another process stores the same transcript.
 * Throws when archiving is off for the session or the session has no transcript.
 */
export function archiveSession(opened: OpenedArchives, session: SessionRecord): RequestedArchive {
  const { app } = opened
  const { sessionId, agent, project, model, transcriptPath: transcript } = session
  const seat = app.store.seat(session.seatId)?.name ?? session.seatId
  if (!app.policyOf({ agent, project, model, seat }).policy.archive.enabled)
    throw new BatonError(
      'Archiving is turned off for this project (archive.enabled: false).',
      'Set archive.enabled to true to turn it on. baton config check lists the files that apply.',
      EXIT.refused,
    )
  const planned = app.store.transaction(() =>
    app.planArchive({ sessionId, agent, project, trigger: 'request', transcript }),
  )
  if (planned === null)
    throw new BatonError(
      `Session ${sessionId} has no transcript.`,
      'Only sessions that a client reports have one; name another session.',
      EXIT.notFound,
    )
  finishAll(opened)
  return requestedArchive(opened, planned.archiveId, app.store.archive(planned.archiveId))
}

/**
 * Archives a session's transcript like `archiveSession`, and waits while another process stores it.
 * Calls `tell` once when the wait becomes long. After a time limit the archive stays pending.
 */
export async function archiveSessionAndWait(
  opened: OpenedArchives,
  session: SessionRecord,
  tell: () => void,
): Promise<RequestedArchive> {
  const { archive_id: archiveId } = archiveSession(opened, session).archive
  const finish = (): void => void finishAll(opened)
  return requestedArchive(
    opened,
    archiveId,
    await waitForOtherWriter({ store: opened.app.store, archiveId, finish, tell }),
  )
}

function requestedArchive(opened: OpenedArchives, archiveId: string, record: ArchiveRecord | null): RequestedArchive {
  opened.progress.end()
  const archive = record && opened.archives.view([record])[0]
  if (archive) return { archive, problem: archive.status === 'kept' ? null : notStored(archive, record.retryAt) }
  throw new BatonError(
    `${archiveId} was deleted while it was written.`,
    'To archive the session again: baton archive keep <session>.',
  )
}

/** Builds the error for a transcript that was not archived. `retryAt` is null without a retry. */
function notStored({ archive_id: id, status, reason }: Archive, retryAt: string | null): BatonError {
  if (status === 'pending')
    return new BatonError(
      `${id} is not finished: another process is still archiving this session.`,
      `Check it later: baton archive show ${id}.`,
    )
  return new BatonError(
    `${id} failed: ${reason ?? 'the reason is not known'}.`,
    retryAt === null ? 'Run baton doctor.' : 'Baton tries again later. baton doctor checks the store.',
  )
}

interface Waiting {
  store: Pick<Store, 'archive'>
  archiveId: string
  /** Writes the archives that can be written now. */
  finish(): void
  /** Called once, when the wait becomes long. */
  tell(): void
  mostMs?: number
  clock?: WaitClock
}

/** Milliseconds of a monotonic clock, and a pause on it. */
export interface WaitClock {
  now(): number
  pause(ms: number): Promise<unknown>
}

const REAL_CLOCK: WaitClock = { now: () => performance.now(), pause: (ms) => sleep(ms) }

const MOST_MS = 120_000
const QUIET_MS = 1_000
const PAUSE_MS = 250

/**
 * Waits for an archive that another process is writing, until that process finishes or gives up.
 * Returns the unfinished record after a time limit.
 * Null when the archive was forgotten meanwhile.
 */
export async function waitForOtherWriter({
  store,
  archiveId,
  finish,
  tell,
  mostMs = MOST_MS,
  clock = REAL_CLOCK,
}: Waiting): Promise<ArchiveRecord | null> {
  const startedMs = clock.now()
  let isReported = false
  for (;;) {
    const record = store.archive(archiveId)
    const waited = clock.now() - startedMs
    if (record?.status !== 'pending' || waited >= mostMs) return record
    if (!isReported && waited >= Math.min(QUIET_MS, mostMs / 2)) {
      isReported = true
      tell()
    }
    await clock.pause(PAUSE_MS)
    finish()
  }
}

/** A transcript that a search could not read. */
export interface UnreadTranscript {
  session_id: string
  /** Null when no archive of the transcript is planned yet. */
  archive_id: string | null
  bytes: number
}

interface ReadNew {
  /** The remaining time for the search itself, which may have to rebuild the index. */
  within: TimeLimit
  /** Returns the transcripts that were not read. Call the function after the search. */
  unread(): UnreadTranscript[]
}

/** Time that a search spends on new transcripts. */
const READ_MS = 5_000
const MOST_PLANNED = 1_000

/**
 * Archives and indexes new text of all sessions, even killed ones, within the time limit.
 * A background process handles the remaining text.
 */
export function archiveNewText({ app, archives, progress }: OpenedArchives, within = startTimeLimit(READ_MS)): ReadNew {
  let unplanned: UnreadTranscript[] = []
  try {
    const swept = app.engine.planUnarchived({ first: 'newest', most: MOST_PLANNED, isOver: within.isOver })
    unplanned = swept.left.map(({ record, bytes }) => ({ session_id: record.sessionId, archive_id: null, bytes }))
    if (archives.notSearchable().length > 0) finishAll({ app, archives, progress }, within)
  } catch (error) {
    // Complete archives can still be searched.
    app.log('error', 'new transcripts could not be read for a search', { reason: reasonOf(error) })
  }
  progress.end()
  return {
    within,
    unread() {
      const open = archives.notSearchable().map(({ sessionId, archiveId, parts }) => ({
        session_id: sessionId,
        archive_id: archiveId,
        bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
      }))
      const unread = [...unplanned, ...open]
      if (unread.length > 0) app.engine.deps.leaveWork()
      return unread
    },
  }
}
