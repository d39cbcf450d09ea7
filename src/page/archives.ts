import { isAbsolute, join } from 'node:path'
import { readers } from '../agents/readers.js'
import { DamagedArchive } from '../archive/blocks.js'
import { chosen } from '../archive/choose-archives.js'
import { partOf } from '../archive/find-part.js'
import { type Place, readTranscript } from '../archive/read-transcript.js'
import { archivesOf } from '../archives-of.js'
import type { ArchiveRecord } from '../contract/archive.js'
import type { House } from '../house.js'
import { BatonError, EXIT } from '../lib/errors.js'
import type { ArchiveRooms } from '../server/rooms.js'
import type { Hands } from './hands.js'

const USUAL_ARCHIVES = 200
const USUAL_HITS = 20
/** Of so many transcripts it is remembered where their lines are. */
const MOST_PLACES = 50

export function archivePage(house: House, hands: Hands): ArchiveRooms {
  const { store } = house
  let archives = archivesOf(house)
  const places = new Map<string, Place[]>()
  const placesOf = (streamId: string): Place[] => {
    const known = places.get(streamId) ?? []
    if (places.size > MOST_PLACES) places.clear()
    places.set(streamId, known)
    return known
  }
  return {
    archives({ session, project, limit = USUAL_ARCHIVES }) {
      const wanted = chosen(house, { session: session ?? null, folder: project ?? null })
      const records = store.archives().filter(wanted).slice(-limit)
      const sizes = archives.sizes()
      return { archives: archives.view(records).reverse(), total_bytes: sizes.bytes, index_bytes: sizes.indexBytes }
    },
    archive: (id) => archives.view([archives.find(id)])[0]!,
    async transcript(id, { from, before, limit, subagent, whole }) {
      const record = archives.find(id)
      const part = partOf(record, subagent)
      const read = readers[record.agent]?.entriesOfLine
      const chain = subagent === null ? 'main' : 'subagent'
      const told = { archive_id: record.archiveId, subagent: subagent === null ? null : part.name }
      if (part.streamId === null || !read) return { ...told, entries: [], next_line: null, previous_line: null, lines: null }
      const segments = archives.segments(part.streamId)
      const page = await readTranscript(archives.blocks, {
        ...{ segments, bytes: part.bytes, from, before, limit, whole, places: placesOf(part.streamId) },
        read: (line, number) => read(line, number, chain),
      }).catch(explain(record))
      return { ...told, ...page }
    },
    async search({ q, session, project, limit }) {
      const among = [
        ...(session === undefined ? [] : [`--session=${session}`]),
        ...(project === undefined ? [] : [`--project=${project}`]),
      ]
      const words = ['archive', '--json', `--limit=${limit ?? USUAL_HITS}`, ...among, 'search', '--', q]
      return (await hands.command(words)) as Awaited<ReturnType<ArchiveRooms['search']>>
    },
    async restore(id, { to, force, subagent }) {
      const { archiveId } = archives.find(id)
      const path = placeFor(to, hands.env.HOME)
      const options = [`--to=${path}`, ...(force ? ['--force'] : []), ...(subagent === null ? [] : [`--subagent=${subagent}`])]
      const words = ['archive', '--json', ...options, 'restore', '--', archiveId]
      const { bytes, sha256 } = (await hands.command(words)) as { bytes: number; sha256: string | null }
      return { archive_id: archiveId, path, bytes, sha256 }
    },
    async forget({ sessionId }) {
      const words = ['archive', '--json', 'forget', '--', sessionId]
      const done = (await hands.command(words)) as { archives: unknown[]; freed_bytes: number; words: number }
      // What was unpacked lately is kept at hand, and is to be forgotten too.
      archives.close()
      archives = archivesOf(house)
      places.clear()
      return { session_id: sessionId, archives: done.archives.length, freed_bytes: done.freed_bytes, words: done.words }
    },
  }
}

function explain({ archiveId }: ArchiveRecord): (error: unknown) => never {
  return (error) => {
    if (!(error instanceof DamagedArchive)) throw error
    throw new BatonError(`${archiveId} cannot be read: ${error.message}.`, 'baton archive verify tells more.', EXIT.refused)
  }
}

/** Where the server runs is nobody's business: a path says by itself where it leads. */
function placeFor(to: string, userHome: string | undefined): string {
  const path = to.startsWith('~/') && userHome ? join(userHome, to.slice(2)) : to
  if (isAbsolute(path) && !/[\x00-\x1f]/.test(path)) return path
  throw new BatonError('to: must be a whole path.', 'Such as /home/me/transcript.jsonl or ~/transcript.jsonl.', EXIT.usage)
}
