import { resolve } from 'node:path'
import { chosen } from '../../archive/choose-archives.js'
import type { ArchiveRecord } from '../../contract/archive.js'
import type { House } from '../../house.js'
import type { Call, Cli } from '../command.js'

/** Which archives `--session` and `--project` leave; null: both are absent. Throws when they name nothing. */
export function among(call: Call, cli: Cli, house: House): ((record: ArchiveRecord) => boolean) | null {
  const session = call.value('session')
  const project = call.value('project')
  if (session === null && project === null) return null
  return chosen(house, { session, folder: project === null ? null : resolve(cli.cwd, project) })
}
