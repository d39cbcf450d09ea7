import { resolve } from 'node:path'
import { acceptFile } from '../../briefs/accept-file.js'
import { bodyOf } from '../../briefs-of.js'
import type { SessionRecord } from '../../contract/record.js'
import type { Caller } from '../../engine/who-may.js'
import type { House } from '../../house.js'
import { BatonError, EXIT, type ExitCode } from '../../lib/errors.js'
import type { Cli } from '../command.js'
import { sessionNamed } from '../open-house.js'

/** The session this command runs in; null: a person's own terminal. */
export const callerOf = ({ env }: Cli): Caller => env.CLAUDE_CODE_SESSION_ID || null

/** The session that is named, else the one this command runs in; null: neither. */
export function sessionMeant(house: House, cli: Cli, named: string | null): SessionRecord | null {
  if (named !== null) return sessionNamed(house, named)
  const own = callerOf(cli)
  if (own === null) return null
  const record = house.store.session(own)
  if (record) return record
  throw new BatonError(
    `Baton has not heard of this session yet (${own.slice(0, 8)}).`,
    'baton doctor tells whether its hooks are installed.',
    EXIT.notFound,
  )
}

const EXITS: Record<'missing' | 'empty' | 'binary' | 'too-large' | 'not-a-file' | 'unreadable', ExitCode> = {
  missing: EXIT.notFound,
  empty: EXIT.usage,
  binary: EXIT.usage,
  'too-large': EXIT.usage,
  'not-a-file': EXIT.usage,
  unreadable: EXIT.failed,
}

/** The text of a file that is to be a brief, read at once. Throws when it cannot be one. */
export function textOf(cli: Cli, file: string): string {
  const path = resolve(cli.cwd, file)
  const accepted = acceptFile(path)
  if ('text' in accepted) return accepted.text
  throw new BatonError(accepted.reason, 'Give a text file of at most 1 MB. Nothing was changed.', EXITS[accepted.refused])
}

/** The same without front matter it brought along. Throws when that was tampered with. */
export function bodyIn(house: House, cli: Cli, file: string): string {
  return bodyOf(house, resolve(cli.cwd, file), textOf(cli, file))
}
