import type { BriefOrigin, BriefRecord } from '../contract/records/brief.js'
import { machineKey } from '../lib/machine-key.js'
import { addAddendum, readAddendum } from './addendum.js'
import { keepBrief } from './keep-file.js'
import { readBrief } from './read-brief.js'

/** Stores the text of briefs in signed files and reads it back. Throws where the key is damaged. */
export interface BriefKeeper {
  keep(origin: BriefOrigin, body: string): { path: string; sha256: string }
  /** null: it is gone, or somebody has changed it. */
  read(brief: Pick<BriefRecord, 'path' | 'sha256'>): string | null
  /** A late finding. Throws when it cannot be kept. */
  add(brief: BriefRecord, at: string, text: string): BriefRecord['addenda'][number]
  /** Late findings as they were kept, oldest first; those that are gone or were changed are left out. */
  late(brief: BriefRecord): LateFinding[]
}

interface LateFinding {
  text: string
  path: string
}

export function briefKeeper({ folder, keyFile }: { folder: string; keyFile: string }): BriefKeeper {
  return {
    keep: (origin, body) => keepBrief({ folder, key: machineKey(keyFile) }, origin, body),
    read(brief) {
      const { verdict, body } = readBrief(brief.path, machineKey(keyFile), brief.sha256)
      return verdict === 'genuine' ? body : null
    },
    add: (brief, at, text) => addAddendum(machineKey(keyFile), brief, at, text),
    late: ({ briefId, addenda }) =>
      addenda.flatMap(({ path, sha256 }) => {
        const { verdict, body } = readAddendum(path, machineKey(keyFile), { briefId, sha256 })
        return verdict === 'genuine' && body !== null ? [{ text: body, path }] : []
      }),
  }
}
