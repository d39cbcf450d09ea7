import { realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { ArchiveRecord } from '../../contract/archive.js'
import type { House } from '../../house.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import type { Call, Cli } from '../command.js'

/** Which archives `--session` and `--project` leave; null: both are absent. Throws when they name nothing. */
export function among(call: Call, cli: Cli, house: House): ((record: ArchiveRecord) => boolean) | null {
  const session = call.value('session')
  const project = call.value('project')
  if (session === null && project === null) return null
  const sessions = session === null ? null : new Set(sessionsNamed(house, session))
  const inProject = project === null ? () => true : ofProject(cli, project)
  return (record) => (sessions === null || sessions.has(record.sessionId)) && inProject(record)
}

/** The archives of a folder's project, however it is spelled; a folder that is gone is compared as it is written. */
export function ofProject(cli: Cli, folder: string): (record: Pick<ArchiveRecord, 'project'>) => boolean {
  const written = resolve(cli.cwd, folder)
  const here = real(written)
  const known = new Map<string, boolean>()
  return ({ project }) => {
    if (project === null) return false
    const same = known.get(project) ?? (project === written || real(project) === here)
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

/** A session of an archive by its id or the beginning of it, or all sessions of a seat. */
export function sessionsNamed(house: House, id: string): string[] {
  const archived = [...new Set(house.store.archives().map(({ sessionId }) => sessionId))]
  if (archived.includes(id)) return [id]
  const seat = house.store.seatNamed(id) ?? house.store.seat(id)
  if (seat) return house.store.chain(seat.seatId).map(({ sessionId }) => sessionId)
  const alike = archived.filter((one) => one.startsWith(id))
  if (alike.length === 1 && id.length >= 4) return alike
  if (alike.length > 1 && id.length >= 4) {
    const names = alike.slice(0, 4).map((one) => one.slice(0, 12))
    throw new BatonError(`${alike.length} sessions begin with "${id}".`, `Give more of the id: ${names.join(', ')}.`, EXIT.usage)
  }
  const known = house.find(id)
  if (known) return [known.sessionId]
  throw new BatonError(`No session is known as "${id}".`, 'baton archive list shows them all.', EXIT.notFound)
}
