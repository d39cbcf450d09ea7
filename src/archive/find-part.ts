import type { ArchivePart, ArchiveRecord } from '../contract/archive.js'
import { BatonError, EXIT } from '../lib/errors.js'

/** The session's own transcript in an archive, or that of a subagent. Throws when it was not kept. */
export function partOf(record: ArchiveRecord, subagent: string | null): ArchivePart {
  const { archiveId, status, reason, parts } = record
  if (status !== 'kept')
    throw new BatonError(
      `${archiveId} was not kept${reason === null ? ' yet' : `: ${reason}`}.`,
      status === 'pending'
        ? 'Another process is working on it; try again in a moment.'
        : 'baton archive list shows what is kept.',
      EXIT.notFound,
    )
  if (subagent === null) return parts[0]!
  const names = parts.slice(1).map(({ name }) => name)
  const found = parts.slice(1).find(({ name }) => name === subagent || name === `agent-${subagent}`)
  if (found?.sha256) return found
  throw new BatonError(
    found ? `The transcript of ${subagent} was not kept: ${found.trouble}.` : `${archiveId} holds no subagent "${subagent}".`,
    names.length === 0 ? 'It holds the session alone.' : `It holds: ${names.join(', ')}.`,
    EXIT.notFound,
  )
}
