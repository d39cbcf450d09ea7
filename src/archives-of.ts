import { readers } from './agents/readers.js'
import { type Archives, makeArchives } from './archive/archive.js'
import type { ArchiveRecord } from './contract/archive.js'
import type { House } from './house.js'

/** The archives of a house, joined with the readers of transcripts. Apart from house.ts, because a hook only plans them. */
export function archivesOf(house: House): Archives {
  return makeArchives({
    ...{ store: house.store, root: house.home.root, now: house.now, newId: house.newId, log: house.log },
    readerOf(agent, chain) {
      const read = readers[agent]?.entriesOfLine
      return read ? (line, number) => read(line, number, chain) : null
    },
  })
}

/** Keeps what is planned and tells of it. */
export function finishArchives(
  house: House,
  archives: Archives,
  progress?: (what: 'keep' | 'index', bytes: number) => void,
): ArchiveRecord[] {
  return archives.finish({
    settled(record) {
      const event = archives.createdEvent(record)
      if (event) house.store.addEvent(event)
    },
    ...(progress ? { progress } : {}),
  })
}
