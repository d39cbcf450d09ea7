import { createHash } from 'node:crypto'
import type { BriefOrigin } from '../contract/records/brief.js'
import { BatonError } from '../lib/errors.js'
import { type RefusedFile, readNamedFile } from '../lib/named-file.js'
import { readFrontMatter } from './front-matter.js'
import { verifyBrief } from './sign.js'

export type BriefVerdict = 'genuine' | 'tampered' | 'unsigned' | 'missing'

interface ReadBriefResult {
  verdict: BriefVerdict
  /** The brief's text. Null when the file is missing. Unless genuine, the text is only data. */
  body: string | null
  /** The origin in the front matter, trusted only if genuine. Null when it cannot be parsed. */
  origin: BriefOrigin | null
}

/**
 * Reads and verifies a brief.
 * `sha256` is the stored hash, which also detects a swapped genuine brief.
 * Throws a BatonError when something unreadable is at the path, which is not the same as missing.
 */
export function readBrief(path: string, key: Buffer, sha256?: string): ReadBriefResult {
  const bytes = readStoredFile(path)
  if (bytes === null) return { verdict: 'missing', body: null, origin: null }
  const text = bytes.toString('utf8')
  const { body, origin } = readFrontMatter(text)
  const verdict = verifyBrief(text, key)
  // A signed text of another type, such as an addendum, is not a brief.
  const isOther = verdict === 'genuine' && (origin === null || hashDiffers(sha256, bytes))
  return { verdict: isOther ? 'tampered' : verdict, body, origin }
}

/** Maximum size of a brief's file; a larger one is not Baton's. */
const LARGEST_FILE = 64 * 1024 * 1024

/** Reads a stored file. Null when it does not exist. */
export function readStoredFile(path: string): Buffer | null {
  const read = readNamedFile(path, { owner: 'anyone', most: LARGEST_FILE })
  if ('refused' in read && read.refused === 'missing') return null
  if (!('refused' in read) && !read.more) return read.bytes
  const reason = 'refused' in read ? read.reason : `${path} is larger than 64 MB.`
  throw new BatonError(reason, 'Check its owner and mode, and what lies in its place.')
}

/** True when a hash is given and differs from that of the bytes. */
export function hashDiffers(sha256: string | undefined, bytes: Buffer): boolean {
  return sha256 !== undefined && createHash('sha256').update(bytes).digest('hex') !== sha256
}

export const MAX_BRIEF_BYTES = 1024 * 1024

type AcceptedFile =
  | { text: string }
  | { refused: 'missing' | 'empty' | 'binary' | 'too-large' | 'not-a-file' | 'unreadable'; reason: string }

/**
 * Returns the text of a file offered as a brief, or why it cannot be one.
 * Never throws and never blocks.
 */
export function readOfferedBriefFile(path: string): AcceptedFile {
  const read = readNamedFile(path, { owner: 'anyone', most: MAX_BRIEF_BYTES })
  if ('refused' in read) return refusalOf(read)
  if (read.more)
    return {
      refused: 'too-large',
      reason: `${path} is larger than 1 MB; a brief is what the next session needs to know.`,
    }
  const text = read.bytes.includes(0) ? null : decodeUtf8(read.bytes)
  if (text === null) return { refused: 'binary', reason: `${path} is not a text in UTF-8.` }
  if (text.trim() === '') return { refused: 'empty', reason: `${path} is empty.` }
  return { text }
}

/** Converts a refusal. Briefs may come from anyone, so no file is refused for its owner. */
function refusalOf({ refused, reason }: RefusedFile): AcceptedFile {
  return { refused: refused === 'other-owner' ? 'unreadable' : refused, reason }
}

/** Decodes UTF-8 without its byte order mark. Null when it is not UTF-8. */
function decodeUtf8(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return null
  }
}
