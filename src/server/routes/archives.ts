import type { Handlers } from '../mount.js'
import type { ServerParts } from '../parts.js'

type ArchiveRoute = 'archives' | 'searchArchives' | 'archive' | 'transcript' | 'restoreArchive'

const USUAL_ENTRIES = 200

/** Kept transcripts. */
export function archives({ rooms }: ServerParts): Handlers<ArchiveRoute> {
  return {
    archives: ({ query }) => rooms.archives(query),
    searchArchives: ({ query }) => rooms.search(query),
    archive: ({ id }) => rooms.archive(id),
    transcript: ({ id, query: { from, limit, subagent } }) =>
      rooms.transcript(id, { from: from ?? 1, limit: limit ?? USUAL_ENTRIES, subagent: subagent ?? null }),
    restoreArchive: ({ id, body }) => rooms.restore(id, body),
  }
}
