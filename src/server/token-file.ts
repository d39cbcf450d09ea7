import { chmodSync, readFileSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { FileChanged, removeLeftovers, writeFileAtomic } from '../lib/atomic-file.js'
import { BatonError, codeOf, reasonOf } from '../lib/errors.js'
import { makePrivateFolder } from '../lib/private-folder.js'

const WHOLE = /^[0-9a-f]{64}\n?$/

/**
 * The token of this home, made when it is first asked for and kept over restarts; of several processes that ask at once, all get the same.
 * Whoever removes the file shuts out every browser that was let in.
 */
export function ownToken(file: string): string {
  const known = readToken(file)
  if (known !== null) return known
  try {
    makePrivateFolder(dirname(file))
    removeLeftovers(dirname(file))
    const token = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('hex')
    writeFileAtomic(file, `${token}\n`, { mode: 0o600, expect: null })
    return token
  } catch (error) {
    const theirs = error instanceof FileChanged ? readToken(file) : null
    if (theirs !== null) return theirs
    throw new BatonError(
      `The server's token cannot be kept in ${file} (${reasonOf(error)}).`,
      'Check the owner, mode and free space of its folder, or set BATON_HOME to a writable one.',
    )
  }
}

/** null: there is none yet. */
export function readToken(file: string): string | null {
  let text: string
  try {
    const mode = statSync(file).mode & 0o777
    text = readFileSync(file, 'latin1')
    if ((mode & 0o077) !== 0) chmodSync(file, mode & 0o700)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw new BatonError(
      `The server's token cannot be read (${reasonOf(error)}).`,
      'It has to be a file that belongs to you, mode 600.',
    )
  }
  if (WHOLE.test(text)) return text.slice(0, 64)
  throw new BatonError(
    `The file ${file} does not hold the server's token.`,
    'Remove it: the next server makes a new one. Browsers then have to be let in again (baton open).',
  )
}
