import { createHash } from 'node:crypto'
import type { BriefOrigin } from '../contract/records/brief.js'
import { BatonError } from '../lib/errors.js'
import { type RefusedFile, readNamedFile } from '../lib/named-file.js'
import { readFrontMatter } from './front-matter.js'
import { verifyBrief } from './sign.js'

export type BriefVerdict = 'genuine' | 'tampered' | 'unsigned' | 'missing'

interface KeptBrief {
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

/** Far above any brief with its addenda; a larger file is not one of ours. */
const LARGEST_FILE = 64 * 1024 * 1024

/** null: there is no such file. */
export function readKept(path: string): Buffer | null {
  const read = readNamedFile(path, { owner: 'anyone', most: LARGEST_FILE })
  if ('refused' in read && read.refused === 'missing') return null
  if (!('refused' in read) && !read.more) return read.bytes
  const reason = 'refused' in read ? read.reason : `${path} is larger than 64 MB.`
  throw new BatonError(reason, 'Check its owner and mode, and what lies in its place.')
}

/** Whether a hash is known, and is another one. */
export function isNot(sha256: string | undefined, bytes: Buffer): boolean {
  return sha256 !== undefined && createHash('sha256').update(bytes).digest('hex') !== sha256
}

export const LARGEST_BRIEF = 1024 * 1024

type AcceptedFile =
  | { text: string }
  | { refused: 'missing' | 'empty' | 'binary' | 'too-large' | 'not-a-file' | 'unreadable'; reason: string }

/** The text of a file somebody offers as a brief, or a sentence that says why it cannot be one. Never throws, never waits. */
export function acceptFile(path: string): AcceptedFile {
  const read = readNamedFile(path, { owner: 'anyone', most: LARGEST_BRIEF })
  if ('refused' in read) return refusalOf(read)
  if (read.more)
    return {
      refused: 'too-large',
      reason: `${path} is larger than 1 MB; a brief is what the next session needs to know.`,
    }
  const text = read.bytes.includes(0) ? null : decoded(read.bytes)
  if (text === null) return { refused: 'binary', reason: `${path} is not a text in UTF-8.` }
  if (text.trim() === '') return { refused: 'empty', reason: `${path} is empty.` }
  return { text }
}

/** Briefs may come from anybody, so no file is refused for its owner. */
function refusalOf({ refused, reason }: RefusedFile): AcceptedFile {
  return { refused: refused === 'other-owner' ? 'unreadable' : refused, reason }
}

/** Without the mark some editors put in front. null: not UTF-8. */
function decoded(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}
