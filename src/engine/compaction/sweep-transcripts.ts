import type { SessionRecord } from '../../contract/records/session.js'
import { reasonOf } from '../../lib/errors.js'
import { lookAtNamedFile } from '../../lib/named-file.js'
import type { EngineDependencies } from '../context.js'
import { isForgotten } from '../views/session-queries.js'
import { isHeadless } from './keep-transcript.js'

/** A session whose transcript holds conversation that its archives lack. */
interface Unarchived {
  record: SessionRecord
  /** Size of the session's transcript. */
  bytes: number
  /** When the transcript was last written, milliseconds. */
  writtenMs: number
}

export interface SweepLimits {
  /**
   * The transcripts to plan first if the limit cuts the list: old or new.
   */
  first: 'oldest' | 'newest'
  most: number
  isOver(): boolean
}

export interface SweepResult {
  planned: Unarchived[]
  /** Sessions that are left for the next sweep because of the limits. */
  left: Unarchived[]
}

/** Oldest last signal of a swept session. Clients delete transcripts after 30 days by default. */
const LOOK_BACK_MS = 60 * 24 * 3_600_000
/**
 * Idle time after which the session of an open client is archived.
 * An open client may stay idle for weeks, until it deletes its transcript.
 */
const IDLE_MS = 24 * 3_600_000
/** Number of new bytes that surely hold conversation, so the bytes need not be read. */
const SURELY_NEW = 1024 * 1024

/**
 * Finds sessions whose transcripts hold more than their archives.
 * Such sessions ended without a signal (`kill -9`, reboot) or continued after an archive.
 * Reads files, so call the function outside of transactions.
 */
function findUnarchived(deps: EngineDependencies): Unarchived[] {
  const now = deps.now().getTime()
  const seenSince = new Date(now - LOOK_BACK_MS).toISOString()
  return deps.store.sessions({ seenSince }).flatMap((record): Unarchived[] => {
    try {
      const found = isArchivable(deps, record) ? statTranscript(deps, record, now) : null
      const held = archivedBytesOf(deps, record.sessionId)
      const { agent, transcriptPath: path } = record
      return found !== null && hasMoreConversation(deps, { agent, path: path!, bytes: found.bytes }, held)
        ? [found]
        : []
    } catch (error) {
      const reason = reasonOf(error)
      deps.log('warn', 'a session could not be looked at for the sweep', { session: record.sessionId, reason })
      return []
    }
  })
}

/**
 * Plans archives of unarchived sessions. A background process (the keeper) copies the bytes later.
 */
export function planUnarchived(deps: EngineDependencies, { first, most, isOver }: SweepLimits): SweepResult {
  const found = findUnarchived(deps).sort((a, b) => a.writtenMs - b.writtenMs)
  if (first === 'newest') found.reverse()
  const planned: Unarchived[] = []
  for (const one of found) {
    if (planned.length >= most || isOver()) break
    planned.push(one)
    plan(deps, one)
  }
  if (planned.length > 0) deps.leaveWork()
  return { planned, left: found.slice(planned.length) }
}

function plan(deps: EngineDependencies, { record, bytes }: Unarchived): void {
  const { sessionId, agent, project, transcriptPath: transcript } = record
  const ahead = new Map([deps.lookForArchive({ agent, transcript })])
  deps.store.transaction(() => {
    // Another process may have planned the archive first.
    if (archivedBytesOf(deps, sessionId) >= bytes) return
    deps.planArchive({ sessionId, agent, project, trigger: 'sweep', transcript })
  }, ahead)
}

function isArchivable(deps: EngineDependencies, record: SessionRecord): boolean {
  if (record.transcriptPath === null || isForgotten(record) || isHeadless(record)) return false
  const { agent, project, model, seatId } = record
  const seat = deps.store.seat(seatId)?.name ?? seatId
  const { archive } = deps.policyOf({ agent, project, model, seat }).policy
  return archive.enabled && archive.at.includes('session-end')
}

/**
 * Reads the transcript's size and age.
 * Null while the session continues, and when the transcript is missing or not this user's.
 */
function statTranscript(deps: EngineDependencies, record: SessionRecord, now: number): Unarchived | null {
  const stats = lookAtNamedFile(record.transcriptPath!, 'this-user')
  if ('refused' in stats) return null
  if (mayClientRun(deps, record) && now - stats.mtimeMs < IDLE_MS) return null
  return { record, bytes: stats.size, writtenMs: stats.mtimeMs }
}

/** True while the session's client may still run. */
export function mayClientRun(deps: EngineDependencies, { state, process, agent }: SessionRecord): boolean {
  return state !== 'ended' && (process === null || deps.agents[agent]?.alive(process) !== false)
}

/**
 * True when a transcript holds conversation beyond the archived bytes.
 * Clients write token counts after the session's end. Those bytes need no new archive.
 */
export function hasMoreConversation(
  deps: EngineDependencies,
  { agent, path, bytes }: { agent: string; path: string; bytes: number },
  held: number,
): boolean {
  if (bytes <= held) return false
  const reader = deps.sources().readers[agent]
  if (bytes - held > SURELY_NEW || !reader) return true
  let entries = 0
  const read = reader.conversation(path, {
    from: { offset: held, lines: 0 },
    to: bytes,
    onEntry: () => void entries++,
  })
  return entries > 0 || read.unread > 0
}

/** Returns the transcript bytes that a session's archives hold, will hold, or once held. */
export function archivedBytesOf({ store }: EngineDependencies, sessionId: string): number {
  const held = store.archives({ sessionId }).flatMap(({ status, retryAt, parts: [main] }) => {
    const counts = status !== 'failed' || retryAt !== null
    return counts && main !== undefined ? [main.bytes] : []
  })
  return Math.max(0, store.session(sessionId)?.droppedBytes ?? 0, ...held)
}
