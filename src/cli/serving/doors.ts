import { readFileSync, statSync } from 'node:fs'
import { BatonError, EXIT, reasonOf } from '../../lib/errors.js'
import { isLoopback } from '../../server/guard.js'
import type { Cli } from '../command.js'

/** The token everybody has to give; null: none. Throws where it would be needed and is not there. */
export function checkDoors(host: string, tokenFile: string | null, cli: Cli): string | null {
  const token = tokenFrom(tokenFile, cli)
  if (!isLoopback(host) && token === null) throw openToAll(host)
  return token
}

function openToAll(host: string): BatonError {
  return new BatonError(
    `Listening on ${host} would open Baton to other machines.`,
    'Give --token-file FILE with a secret of your own, or leave --host out to stay on 127.0.0.1.',
    EXIT.refused,
  )
}

function tokenFrom(file: string | null, cli: Cli): string | null {
  if (file === null) return null
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
  if (statSync(file).mode & 0o077) cli.note(`Others may read ${file}: chmod 600 it.`)
  return text
}
