import type { BriefOrigin } from '../contract/brief.js'
import { withFrontMatter } from '../handoff/front-matter.js'
import { signBrief } from '../handoff/sign.js'
import { briefPath } from './file-name.js'
import { type KeptFile, keepFile } from './keep-file.js'

export interface BriefPlace {
  /** Of all briefs; each seat has a folder of its own in it. */
  folder: string
  key: Buffer
  /** Told between the steps; a test ends the process there. */
  step?: (name: string) => void
}

/**
 * Puts a brief into its file: where it comes from, signed, and the text. Throws a BatonError when it cannot be written or when another text
 * has its name. Kept before the store names it: whoever is killed in between leaves a file that nobody counts.
 */
export function keepBrief({ folder, key, step }: BriefPlace, origin: BriefOrigin, body: string): KeptFile {
  return keepFile(briefPath(folder, origin), signBrief(withFrontMatter(origin, body), key), step)
}
