import { realpathSync } from 'node:fs'
import type { ArchivePart, ArchiveRecord } from '../contract/records/archive.js'
import { ambiguousId } from '../lib/ambiguous-id.js'
import { BatonError, EXIT } from '../lib/errors.js'
import type { Store } from '../store/store.js'

/**
 * Returns a filter for the archives of a project folder, with symbolic links resolved.
 * A folder that no longer exists is compared by its path as written.
 */
export function isInProject(folder: string): (record: Pick<ArchiveRecord, 'project'>) => boolean {
  const here = resolvePath(folder)
  const known = new Map<string, boolean>()
  return ({ project }) => {
    if (project === null) return false
    const same = known.get(project) ?? (project === folder || resolvePath(project) === here)
    known.set(project, same)
    return same
  }
}

function resolvePath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

interface ArchiveLookup {
  store: Store
  /** Returns a session by id, or the newest session of a seat (terminal or job). */
  find(id: string): { sessionId: string } | null
}

/** Resolves a session id, id prefix or seat to session ids, which may have no archives. */
export function resolveSessionIds({ store, find }: ArchiveLookup, id: string): string[] {
  const archived = [...new Set(store.archives().map(({ sessionId }) => sessionId))]
  if (archived.includes(id)) return [id]
  const seat = store.seatByName(id) ?? store.seat(id)
  if (seat) return store.chain(seat.seatId).map(({ sessionId }) => sessionId)
  const alike = archived.filter((one) => one.startsWith(id))
  if (alike.length === 1 && id.length >= 4) return alike
  if (alike.length > 1 && id.length >= 4) throw ambiguousId('sessions', id, alike)
  const known = find(id)
  if (known) return [known.sessionId]
  throw new BatonError(
    `There is no session "${id}".`,
    'Run baton archive list to see all sessions with archives.',
    EXIT.notFound,
  )
}

/**
 * Returns a filter for the archives of a session and a folder. Throws when the session is unknown.
 */
export function archiveFilter(
  app: ArchiveLookup,
  { session, folder }: { session: string | null; folder: string | null },
): (record: ArchiveRecord) => boolean {
  const sessions = session === null ? null : new Set(resolveSessionIds(app, session))
  const inProject = folder === null ? () => true : isInProject(folder)
  return (record) => (sessions === null || sessions.has(record.sessionId)) && inProject(record)
}

/**
 * Returns the transcript of the session, or of a subagent, in an archive.
 * Throws when that transcript was not archived.
 */
export function findArchivePart(record: ArchiveRecord, subagent: string | null): ArchivePart {
  const { archiveId, status, reason, parts } = record
  if (status !== 'kept')
    throw new BatonError(
      `${archiveId} is not written${reason === null ? ' yet' : `: ${reason}`}.`,
      status === 'pending'
        ? 'Another process is writing it. Try again in a moment.'
        : 'Run baton archive list to see the complete archives.',
      EXIT.notFound,
    )
  if (subagent === null) return parts[0]!
  const names = parts.slice(1).map(({ name }) => name)
  const found = parts.slice(1).find(({ name }) => name === subagent || name === `agent-${subagent}`)
  if (found?.sha256) return found
  throw new BatonError(
    found
      ? `The transcript of ${subagent} was not archived: ${found.trouble}.`
      : `${archiveId} contains no subagent "${subagent}".`,
    names.length === 0 ? 'It contains only the session.' : `It contains: ${names.join(', ')}.`,
    EXIT.notFound,
  )
}
