import type { SessionRecord } from '../../contract/record.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import type { ServerParts } from '../parts.js'

/** A session, or the one in a seat, by id, name or the beginning of it. Throws when there is none. */
export function namedSession(parts: Pick<ServerParts, 'find'>, id: string): SessionRecord {
  const record = parts.find(id)
  if (record) return record
  throw new BatonError(`No session or seat ${id}`, 'baton status --all lists them', EXIT.notFound)
}
