import { chmodSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { FileChanged, removeLeftovers, writeFileAtomic } from './atomic-file.js'
import { BatonError, errorCodeOf, reasonOf } from './errors.js'
import { makePrivateFolder } from './private-folder.js'
import { quoteForShell } from './shell-words.js'

/** Thrown when the key that signs briefs is missing, unreadable or damaged. */
export class KeyTrouble extends BatonError {}

const BYTES = 32
const WHOLE = /^[0-9a-f]{64}\n?$/

/**
 * Returns the secret that signs briefs of this machine, and creates it on first use.
 * Processes that ask at the same time get the same key.
 * A damaged file is never replaced, because all existing briefs would become untrusted.
 */
export function machineKey(file: string): Buffer {
  const known = readKey(file)
  if (known !== null) return known
  try {
    makePrivateFolder(dirname(file))
    removeLeftovers(dirname(file))
    // The global `crypto` is used, because importing node:crypto costs milliseconds on every read.
    const key = Buffer.from(crypto.getRandomValues(new Uint8Array(BYTES)))
    writeFileAtomic(file, `${key.toString('hex')}\n`, { mode: 0o600, expect: null })
    return key
  } catch (error) {
    const theirs = error instanceof FileChanged ? readKey(file) : null
    if (theirs !== null) return theirs
    throw new KeyTrouble(
      `The key that signs briefs cannot be stored in ${file} (${reasonOf(error)}).`,
      'Check the owner, mode and free space of its folder, or set BATON_HOME to a writable one.',
    )
  }
}

/** Reads the key. Null when there is none yet. */
function readKey(file: string): Buffer | null {
  let text: string
  try {
    if (statSync(file, { throwIfNoEntry: false })?.isFile() === false) throw new Error('the path is not a file')
    text = readFileSync(file, 'latin1')
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return null
    throw new KeyTrouble(
      `The key ${file}, which signs briefs, cannot be read (${reasonOf(error)}).`,
      `Run chmod 600 ${quoteForShell(file)}. The key must be a file that belongs to you.`,
    )
  }
  if (!WHOLE.test(text)) throw damaged(file, text.length)
  closeToOthers(file)
  return Buffer.from(text.slice(0, BYTES * 2), 'hex')
}

function damaged(file: string, bytes: number): KeyTrouble {
  const what = bytes < BYTES * 2 ? `it has ${bytes} bytes instead of ${BYTES * 2 + 1}` : 'it does not contain a key'
  return new KeyTrouble(
    `The key ${file}, which signs briefs, is damaged (${what}). It is unchanged.`,
    `Restore it from a backup. Without one, run mv ${quoteForShell(file)} ${quoteForShell(`${file}.damaged`)}: ` +
      'Baton then creates a new key and no longer trusts its older briefs.',
  )
}

function closeToOthers(file: string): void {
  try {
    const mode = statSync(file).mode & 0o777
    if ((mode & 0o077) !== 0) chmodSync(file, mode & 0o700)
  } catch {
    return // Another user owns the file. Baton only needs to read it.
  }
}
