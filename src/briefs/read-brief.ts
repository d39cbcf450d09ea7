import { createHash } from 'node:crypto'
import type { BriefOrigin } from '../contract/brief.js'
import { readFrontMatter } from '../handoff/front-matter.js'
import { verifyBrief } from '../handoff/sign.js'
import { BatonError } from '../lib/errors.js'
import { readFile } from './read-file.js'

export type BriefVerdict = 'genuine' | 'tampered' | 'unsigned' | 'missing'

export interface KeptBrief {
  verdict: BriefVerdict
  /** null: it is missing. Unless genuine it is data to be shown, never instructions. */
  body: string | null
  /** null: it says none that can be understood. Unless genuine it is not to be believed. */
  origin: BriefOrigin | null
}

/**
 * A brief as it lies there. `sha256`: what the store knows of the file; a genuine brief in the place of another is then found out too.
 * Throws a BatonError when there is something that cannot be read: that is not the same as missing.
 */
export function readBrief(path: string, key: Buffer, sha256?: string): KeptBrief {
  const bytes = readKept(path)
  if (bytes === null) return { verdict: 'missing', body: null, origin: null }
  const text = bytes.toString('utf8')
  const { body, origin } = readFrontMatter(text)
  const verdict = verifyBrief(text, key)
  // What was signed as something else than a brief, an addendum say, is no brief.
  const isOther = verdict === 'genuine' && (origin === null || isNot(sha256, bytes))
  return { verdict: isOther ? 'tampered' : verdict, body, origin }
}

/** null: there is no such file. */
export function readKept(path: string): Buffer | null {
  const read = readFile(path, Number.MAX_SAFE_INTEGER - 1)
  if (!('refused' in read)) return read.bytes
  if (read.refused === 'missing') return null
  throw new BatonError(read.reason, 'Check its owner and mode, and what lies in its place.')
}

/** Whether a hash is known, and is another one. */
export function isNot(sha256: string | undefined, bytes: Buffer): boolean {
  return sha256 !== undefined && createHash('sha256').update(bytes).digest('hex') !== sha256
}
