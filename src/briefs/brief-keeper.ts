import type { BriefOrigin, BriefRecord } from '../contract/records/brief.js'
import { machineKey } from '../lib/machine-key.js'
import { addAddendum, readAddendum } from './addendum.js'
import { storeBrief } from './keep-file.js'
import { readBrief } from './read-brief.js'

/** Stores briefs in signed files and reads them back. Throws when the key is damaged. */
export interface BriefFiles {
  store(origin: BriefOrigin, body: string): { path: string; sha256: string }
  /** Returns the text of a brief. Null when its file is missing or was changed. */
  read(brief: Pick<BriefRecord, 'path' | 'sha256'>): string | null
  /** Stores a late finding. Throws when it cannot be stored. */
  addFinding(brief: BriefRecord, at: string, text: string): BriefRecord['addenda'][number]
  /** Returns late findings, oldest first, without those whose file is missing or was changed. */
  lateFindings(brief: BriefRecord): LateFinding[]
}

interface LateFinding {
  text: string
  path: string
}

export function openBriefFiles({ folder, keyFile }: { folder: string; keyFile: string }): BriefFiles {
  return {
    store: (origin, body) => storeBrief({ folder, key: machineKey(keyFile) }, origin, body),
    read(brief) {
      const { verdict, body } = readBrief(brief.path, machineKey(keyFile), brief.sha256)
      return verdict === 'genuine' ? body : null
    },
    addFinding: (brief, at, text) => addAddendum(machineKey(keyFile), brief, at, text),
    lateFindings: ({ briefId, addenda }) =>
      addenda.flatMap(({ path, sha256 }) => {
        const { verdict, body } = readAddendum(path, machineKey(keyFile), { briefId, sha256 })
        return verdict === 'genuine' && body !== null ? [{ text: body, path }] : []
      }),
  }
}
