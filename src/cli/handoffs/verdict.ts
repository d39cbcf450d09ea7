import { existsSync } from 'node:fs'
import { readFrontMatter, splitFrontMatter } from '../../handoff/front-matter.js'
import { type Verdict, verifyBrief } from '../../handoff/sign.js'
import type { House } from '../../house.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import { machineKey } from '../../lib/machine-key.js'

/** null: it has no front matter. Where no key was ever made, no signature can be this machine's. */
export function verdictOf(house: House, text: string): Verdict | null {
  if (splitFrontMatter(text) === null) return null
  if (existsSync(house.home.key)) return verifyBrief(text, machineKey(house.home.key))
  return readFrontMatter(text).signature === null ? 'unsigned' : 'tampered'
}

/** A text that passes itself off as a brief of Baton's and is none is not given to an agent. */
export function refuseTampered(house: House, file: string, text: string): void {
  if (verdictOf(house, text) !== 'tampered') return
  throw new BatonError(
    `${file} bears a signature that does not fit: it was changed since, or signed on another machine.`,
    'Read it, and take its front matter out if you stand by what it says. Nothing was changed.',
    EXIT.refused,
  )
}
