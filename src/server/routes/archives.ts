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
    transcript: ({ id, query: { from = 1, before = null, limit = USUAL_ENTRIES, subagent = null, whole } }) =>
      rooms.transcript(id, { from, before, limit, subagent, whole: whole !== undefined }),
    restoreArchive: ({ id, body }) => rooms.restore(id, body),
  }
}
