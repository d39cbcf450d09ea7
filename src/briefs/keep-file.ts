import { createHash } from 'node:crypto'
import { chmodSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { FileChanged, readIfThere, removeLeftovers, syncFolder, writeFileAtomic } from '../lib/atomic-file.js'
import { BatonError, codeOf, EXIT, reasonOf } from '../lib/errors.js'
import { keepFolderPrivate } from '../lib/private-folder.js'

const READ_ONLY = 0o400

export interface KeptFile {
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
