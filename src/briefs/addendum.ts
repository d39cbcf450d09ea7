import { createHash } from 'node:crypto'
import type { BriefRecord } from '../contract/records/brief.js'
import { BatonError, EXIT } from '../lib/errors.js'
import { splitFrontMatter } from './front-matter.js'
import { addendumPath, storeImmutableFile } from './keep-file.js'
import { type BriefVerdict, hashDiffers, readStoredFile } from './read-brief.js'
import { signBrief, verifyBrief } from './sign.js'

type Addendum = BriefRecord['addenda'][number]

interface ReadAddendum {
  verdict: BriefVerdict
  /** Null when the file is missing. */
  body: string | null
  /** Id of the brief it was added to. Null when the file names none. */
  briefId: string | null
  at: string | null
}

/**
 * Stores a late finding in a file of its own beside the brief, which never changes.
 * `at` is ISO, UTC.
 * A finding that was added before with the same time is not added again.
 * Throws a BatonError when the brief is missing or the file cannot be written.
 */
export function addAddendum(
  key: Buffer,
  brief: Pick<BriefRecord, 'briefId' | 'path' | 'sha256'>,
  at: string,
  text: string,
): Addendum {
  if (readStoredFile(brief.path) === null)
    throw new BatonError(
      `The brief ${brief.briefId} is no longer there.`,
      'Hand off again to have a new one.',
      EXIT.notFound,
    )
  const when = new Date(at).toISOString()
  const head = ['format: 1', `addendum_to: ${brief.briefId}`, `brief_sha256: ${brief.sha256}`, `added_at: ${when}`]
  const signed = signBrief(`---\n${head.join('\n')}\n---\n\n${text}`, key)
  const name = addendumPath(brief.path, when, createHash('sha256').update(text).digest('hex'))
  return { at: when, ...storeImmutableFile(name, signed) }
}

/**
 * Reads a late finding. `of` is the brief it must belong to and the stored hash of its file.
 * Throws a BatonError when the file exists but cannot be read.
 */
export function readAddendum(path: string, key: Buffer, of: { briefId?: string; sha256?: string } = {}): ReadAddendum {
  const bytes = readStoredFile(path)
  if (bytes === null) return { verdict: 'missing', body: null, briefId: null, at: null }
  const text = bytes.toString('utf8')
  const parts = splitFrontMatter(text)
  const frontMatterValue = (name: string): string | null =>
    parts?.lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? null
  const briefId = frontMatterValue('addendum_to')
  const verdict = verifyBrief(text, key)
  const isOther =
    briefId === null || (of.briefId !== undefined && briefId !== of.briefId) || hashDiffers(of.sha256, bytes)
  return {
    verdict: verdict === 'genuine' && isOther ? 'tampered' : verdict,
    body: parts?.body ?? text,
    briefId,
    at: frontMatterValue('added_at'),
  }
}
