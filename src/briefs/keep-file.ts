import { createHash } from 'node:crypto'
import { chmodSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { BriefOrigin } from '../contract/records/brief.js'
import { FileChanged, readIfThere, removeLeftovers, syncFolder, writeFileAtomic } from '../lib/atomic-file.js'
import { BatonError, EXIT, errorCodeOf, reasonOf } from '../lib/errors.js'
import { keepFolderPrivate } from '../lib/private-folder.js'
import { withFrontMatter } from './front-matter.js'
import { signBrief } from './sign.js'

const READ_ONLY = 0o400

interface StoredFile {
  path: string
  /** Hash of the whole file. */
  sha256: string
}

/**
 * Writes a file that never changes: it appears complete or not at all, even after a power cut.
 * Writing the same text again is fine; another text is refused.
 * `step` is called between the steps; a test kills the process there.
 */
export function storeImmutableFile(path: string, text: string, step?: (name: string) => void): StoredFile {
  const bytes = Buffer.from(text)
  const kept = { path, sha256: createHash('sha256').update(bytes).digest('hex') }
  try {
    keepFolderPrivate(dirname(dirname(path)))
    keepFolderPrivate(dirname(path))
    removeLeftovers(dirname(path))
    if (hasSameText(path, bytes)) return kept
    writeFileAtomic(path, bytes, { mode: READ_ONLY, expect: null, step })
    return kept
  } catch (error) {
    if (error instanceof FileChanged && hasSameText(path, bytes)) return kept
    throw explainWriteError(error, path)
  }
}

/** Throws when the file has another text. */
function hasSameText(path: string, bytes: Buffer): boolean {
  const found = readIfThere(path)
  if (found === null) return false
  if (!found.equals(bytes))
    throw new BatonError(
      `${path} holds another text already. It was not touched: a brief never changes.`,
      'Add what is new as an addendum, or hand off again.',
      EXIT.refused,
    )
  if ((statSync(path).mode & 0o777) !== READ_ONLY) chmodSync(path, READ_ONLY)
  // The writer may have died before the file name was synced to the disk.
  syncFolder(dirname(path))
  return true
}

function explainWriteError(error: unknown, path: string): unknown {
  if (error instanceof BatonError) return error
  const full = ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(errorCodeOf(error) ?? '')
  return new BatonError(
    full ? `No space is left for ${path} (${reasonOf(error)}).` : `${path} cannot be written (${reasonOf(error)}).`,
    full
      ? 'Free some space; nothing that was kept is lost.'
      : 'Check the owner and mode of its folder, or set BATON_HOME to a writable one.',
  )
}

interface BriefLocation {
  /** Folder of all briefs, with a subfolder per seat. */
  folder: string
  key: Buffer
  /** Called between the steps; a test kills the process there. */
  step?: (name: string) => void
}

/**
 * Stores a brief in its file: origin, signature and text.
 * Throws a BatonError when it cannot be written, or another text has its name.
 * Stored before the store references it: a kill in between leaves a file that nothing references.
 */
export function storeBrief({ folder, key, step }: BriefLocation, origin: BriefOrigin, body: string): StoredFile {
  return storeImmutableFile(briefPath(folder, origin), signBrief(withFrontMatter(origin, body), key), step)
}

const SAFE = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/
const BRIEF_FILE = /^\.?(\d{4,}-[A-Za-z0-9][A-Za-z0-9_-]*)\.(md|addendum-)/

/** Returns the path of a brief: `<folder>/<seat>/<sequence>-<brief>.md`. Refuses unsafe ids. */
function briefPath(folder: string, { seatId, sequence, briefId }: BriefOrigin): string {
  if (!SAFE.test(seatId) || !SAFE.test(briefId)) throw new RangeError(`no file can be named after ${seatId}/${briefId}`)
  if (!Number.isSafeInteger(sequence) || sequence < 1) throw new RangeError(`${sequence} is no brief's sequence`)
  return join(folder, seatId, `${String(sequence).padStart(4, '0')}-${briefId}.md`)
}

/**
 * Returns the common start of the names of a brief, its addenda and its temporary files.
 * Null for any other file.
 */
export function briefFileStem(name: string): string | null {
  return BRIEF_FILE.exec(name)?.[1] ?? null
}

/**
 * Returns the path of an addendum. Names sort by time.
 * A finding stored twice with the same time has the same path, so it exists once.
 */
export function addendumPath(briefFile: string, at: string, sha256: string): string {
  return `${briefFile.replace(/\.md$/, '')}.addendum-${at.replace(/[^0-9TZ]/g, '')}-${sha256.slice(0, 12)}.md`
}
