import { readFileSync, statSync } from 'node:fs'
import { BatonError, EXIT, reasonOf } from '../lib/errors.js'
import { isLoopback } from './guard.js'

/** A token that the user chose. */
interface UserToken {
  /** The token. Null when no file was given, so that the server makes one. */
  token: string | null
  /** Why the file of the token is unsafe. Null when it is safe. */
  warning: string | null
}

/**
 * Reads the user's own token for a server that listens on `host`.
 * Throws for an unusable file, and for an address beyond loopback without a token.
 */
export function userToken(host: string, file: string | null): UserToken {
  if (file !== null) return readToken(file)
  if (isLoopback(host)) return { token: null, warning: null }
  throw openToAll(host)
}

function openToAll(host: string): BatonError {
  return new BatonError(
    `Listening on ${host} would open Baton to other machines.`,
    'Give --token-file FILE with a secret of your own, or leave --host out to stay on 127.0.0.1.',
    EXIT.refused,
  )
}

function readToken(file: string): UserToken {
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new BatonError(
      `The token file cannot be read (${reasonOf(error)}).`,
      `Make one: (umask 077; openssl rand -hex 32 > ${file})`,
      EXIT.usage,
    )
  }
  if (!/^[\x21-\x7e]{16,}$/.test(text)) {
    throw new BatonError(
      `The token in ${file} is too short or holds spaces.`,
      'It needs at least 16 characters, all on one line: openssl rand -hex 32',
      EXIT.usage,
    )
  }
  const isOpen = (statSync(file).mode & 0o077) !== 0
  return { token: text, warning: isOpen ? `Others may read ${file}: chmod 600 it.` : null }
}
