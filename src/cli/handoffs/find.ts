import { resolve } from 'node:path'
import { acceptFile } from '../../briefs/accept-file.js'
import type { BriefRecord } from '../../contract/brief.js'
import type { SessionRecord } from '../../contract/record.js'
import type { ReadFacts } from '../../engine/read-facts.js'
import type { Caller } from '../../engine/who-may.js'
import { withoutFrontMatter } from '../../handoff/front-matter.js'
import type { House } from '../../house.js'
import { BatonError, EXIT, type ExitCode } from '../../lib/errors.js'
import type { Cli } from '../command.js'
import { sessionNamed } from '../open-house.js'
import { refuseTampered } from './verdict.js'

/** The session this command runs in; null: a person's own terminal. */
export const callerOf = ({ env }: Cli): Caller => env.CLAUDE_CODE_SESSION_ID || null

/** Prefixes need not be typed. */
const SHORTEST = 4
const PREFIX = 'brief_'

/** A brief by its id or the beginning of it; null: none begins so. Throws when several do. */
export function findBriefNamed(house: House, id: string): BriefRecord | null {
  const exact = house.store.brief(id)
  if (exact) return exact
  const beginning = id.startsWith(PREFIX) ? id : `${PREFIX}${id}`
  if (beginning.length < PREFIX.length + SHORTEST) return null
  const alike = house.store.briefs().filter(({ briefId }) => briefId.startsWith(beginning))
  if (alike.length < 2) return alike[0] ?? null
  throw new BatonError(
    `${alike.length} briefs begin with "${id}".`,
    `Give more of the id: ${alike
      .slice(0, 4)
      .map(({ briefId }) => briefId.slice(0, PREFIX.length + 10))
      .join(', ')}${alike.length > 4 ? ', …' : ''}.`,
    EXIT.usage,
  )
}

export function briefNamed(house: House, id: string): BriefRecord {
  const found = findBriefNamed(house, id)
  if (found) return found
  throw new BatonError(
    `There is no brief "${id}".`,
    `${id.replace(PREFIX, '').length < SHORTEST ? 'Give at least four characters of the id. ' : ''}baton handoffs list --all shows them.`,
    EXIT.notFound,
  )
}

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

/** Without front matter it brought along: where a brief comes from is Baton's to say. Throws when that was tampered with. */
export function bodyOf(house: House, cli: Cli, file: string): string {
  const text = textOf(cli, file)
  refuseTampered(house, resolve(cli.cwd, file), text)
  const body = withoutFrontMatter(text)
  if (body.trim() !== '') return body
  throw new BatonError(`${resolve(cli.cwd, file)} holds nothing but front matter.`, 'Write the brief below it.', EXIT.usage)
}

/** However long the transcript is: a command has the time. */
export function factsOf(
  { engine: { parts } }: House,
  of: Pick<SessionRecord, 'sessionId' | 'agent' | 'transcriptPath'>,
): ReadFacts {
  return parts.around().factsOf(parts, of)
}
