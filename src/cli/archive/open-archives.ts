import type { Archives } from '../../archive/archive.js'
import { archivesOf, finishArchives } from '../../archives-of.js'
import type { ArchiveRecord } from '../../contract/archive.js'
import type { House } from '../../house.js'
import type { Call, Cli } from '../command.js'
import { inHouse } from '../open-house.js'
import { type Progress, progressOn } from '../render/progress.js'

export interface Opened {
  house: House
  archives: Archives
  progress: Progress
}

/** Opens the archives for one command. What hooks planned is kept first, so that a command never shows less than they saw. */
export async function inArchives<T>(
  call: Call,
  cli: Cli,
  work: (opened: Opened) => T | Promise<T>,
  { finish = true }: { finish?: boolean } = {},
): Promise<T> {
  return inHouse(cli, async (house) => {
    const progress = progressOn(process.stderr, !call.json)
    const archives = showing(archivesOf(house), progress)
    try {
      if (finish && archives.waiting()) finishAll({ house, archives, progress })
      return await work({ house, archives, progress })
    } finally {
      progress.end()
      archives.close()
    }
  })
}

const DOING = { keep: 'keeping transcripts:', index: 'making them searchable:' }

/** A search may find its index gone and make it again, which takes long enough to be shown. */
function showing(archives: Archives, progress: Progress): Archives {
  return {
    ...archives,
    search(request) {
      const hits = archives.search({ progress: (bytes) => progress.add(DOING.index, bytes), ...request })
      progress.end()
      return hits
    },
  }
}

export function finishAll({ house, archives, progress }: Opened): ArchiveRecord[] {
  return finishArchives(house, archives, (what, bytes) => progress.add(DOING[what], bytes))
}
