import { createHash } from 'node:crypto'
import { chmodSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { BriefOrigin } from '../contract/records/brief.js'
import { FileChanged, readIfThere, removeLeftovers, syncFolder, writeFileAtomic } from '../lib/atomic-file.js'
import { BatonError, codeOf, EXIT, reasonOf } from '../lib/errors.js'
import { keepFolderPrivate } from '../lib/private-folder.js'
import { withFrontMatter } from './front-matter.js'
import { signBrief } from './sign.js'

const READ_ONLY = 0o400

interface KeptFile {
  path: string
  /** Of the whole file. */
  sha256: string
}

/**
 * Writes a file that never changes: under its name there is the whole text or nothing, also after a power cut. The same text again is fine,
 * another one is refused. `step` is told between the steps; a test ends the process there.
 */
export function keepFile(path: string, text: string, step?: (name: string) => void): KeptFile {
  const bytes = Buffer.from(text)
  const kept = { path, sha256: createHash('sha256').update(bytes).digest('hex') }
  try {
    keepFolderPrivate(dirname(dirname(path)))
    keepFolderPrivate(dirname(path))
    removeLeftovers(dirname(path))
    if (isThere(path, bytes)) return kept
    writeFileAtomic(path, bytes, { mode: READ_ONLY, expect: null, step })
    return kept
  } catch (error) {
    if (error instanceof FileChanged && isThere(path, bytes)) return kept
    throw explain(error, path)
  }
}

/** Throws when another text is there. */
function isThere(path: string, bytes: Buffer): boolean {
  const found = readIfThere(path)
  if (found === null) return false
  if (!found.equals(bytes))
    throw new BatonError(
      `${path} holds another text already. It was not touched: a brief never changes.`,
      'Add what is new as an addendum, or hand off again.',
      EXIT.refused,
    )
  if ((statSync(path).mode & 0o777) !== READ_ONLY) chmodSync(path, READ_ONLY)
  // Whoever wrote it may have ended before its name was on the disk.
  syncFolder(dirname(path))
  return true
}

function explain(error: unknown, path: string): unknown {
  if (error instanceof BatonError) return error
  const full = ['ENOSPC', 'EDQUOT', 'EFBIG'].includes(codeOf(error) ?? '')
  return new BatonError(
    full ? `No space is left for ${path} (${reasonOf(error)}).` : `${path} cannot be written (${reasonOf(error)}).`,
    full
      ? 'Free some space; nothing that was kept is lost.'
      : 'Check the owner and mode of its folder, or set BATON_HOME to a writable one.',
  )
}

interface BriefPlace {
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

const SAFE = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/
const OURS = /^\.?(\d{4,}-[A-Za-z0-9][A-Za-z0-9_-]*)\.(md|addendum-)/

/** Where a brief lies: `<folder>/<seat>/<sequence>-<brief>.md`. Ids that would lead elsewhere are refused. */
function briefPath(folder: string, { seatId, sequence, briefId }: BriefOrigin): string {
  if (!SAFE.test(seatId) || !SAFE.test(briefId)) throw new RangeError(`no file can be named after ${seatId}/${briefId}`)
  if (!Number.isSafeInteger(sequence) || sequence < 1) throw new RangeError(`${sequence} is no brief's sequence`)
  return join(folder, seatId, `${String(sequence).padStart(4, '0')}-${briefId}.md`)
}

/** What the names of a brief's file, of its addenda and of those never finished have in common; null: the file is none of them. */
export function stemOf(name: string): string | null {
  return OURS.exec(name)?.[1] ?? null
}

/** The same finding at the same time has the same name: written twice, it is there once. In the order of their times. */
export function addendumPath(briefFile: string, at: string, sha256: string): string {
  return `${briefFile.replace(/\.md$/, '')}.addendum-${at.replace(/[^0-9TZ]/g, '')}-${sha256.slice(0, 12)}.md`
}
