import { realpathSync } from 'node:fs'
import type { ArchiveRecord } from '../contract/archive.js'
import { BatonError, EXIT } from '../lib/errors.js'
import type { Store } from '../store/store.js'

/** The archives of a folder's project, however it is spelled; a folder that is gone is compared as it is written. */
export function ofProject(folder: string): (record: Pick<ArchiveRecord, 'project'>) => boolean {
  const here = real(folder)
  const known = new Map<string, boolean>()
  return ({ project }) => {
    if (project === null) return false
    const same = known.get(project) ?? (project === folder || real(project) === here)
    known.set(project, same)
    return same
  }
}

function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return path
  }
}

export interface Known {
  store: Store
  /** A session, or the newest of a seat. */
  find(id: string): { sessionId: string } | null
}

/** A session of an archive by its id or the beginning of it, or all sessions of a seat. */
export function sessionsNamed({ store, find }: Known, id: string): string[] {
  const archived = [...new Set(store.archives().map(({ sessionId }) => sessionId))]
  if (archived.includes(id)) return [id]
  const seat = store.seatNamed(id) ?? store.seat(id)
  if (seat) return store.chain(seat.seatId).map(({ sessionId }) => sessionId)
  const alike = archived.filter((one) => one.startsWith(id))
  if (alike.length === 1 && id.length >= 4) return alike
  if (alike.length > 1 && id.length >= 4) {
    const names = alike.slice(0, 4).map((one) => one.slice(0, 12))
    throw new BatonError(`${alike.length} sessions begin with "${id}".`, `Give more of the id: ${names.join(', ')}.`, EXIT.usage)
  }
  const known = find(id)
  if (known) return [known.sessionId]
  throw new BatonError(`No session is known as "${id}".`, 'baton archive list shows them all.', EXIT.notFound)
}

/** Which archives a session and a folder leave. Throws when they name nothing. */
export function chosen(
  house: Known,
  { session, folder }: { session: string | null; folder: string | null },
): (record: ArchiveRecord) => boolean {
  const sessions = session === null ? null : new Set(sessionsNamed(house, session))
  const inProject = folder === null ? () => true : ofProject(folder)
  return (record) => (sessions === null || sessions.has(record.sessionId)) && inProject(record)
}
