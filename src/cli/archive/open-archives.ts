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
    const archives = archivesOf(house)
    const progress = progressOn(process.stderr, !call.json)
    try {
      if (finish && archives.waiting()) finishAll({ house, archives, progress })
      return await work({ house, archives, progress })
    } finally {
      progress.end()
      archives.close()
    }
  })
}

export function finishAll({ house, archives, progress }: Opened): ArchiveRecord[] {
  const doing = { keep: 'keeping transcripts:', index: 'making them searchable:' }
  return finishArchives(house, archives, (what, bytes) => progress.add(doing[what], bytes))
}
