import { resolve } from 'node:path'
import { partOf } from '../../archive/find-part.js'
import { BUILT_IN, E_MAIL, ownPatterns, type Pattern, redactLines } from '../../archive/redact.js'
import { restoreArchive } from '../../archive/restore-archive.js'
import { loadConfig } from '../../config/load-config.js'
import type { ArchiveRecord } from '../../contract/archive.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import type { Call, Cli } from '../command.js'
import { wrong } from '../parse-call.js'
import { bytesText } from '../render/bytes.js'
import { tilde } from '../render/paths.js'
import { inArchives, type Opened } from './open-archives.js'

/** `restore`: the transcript as it was. `export`: the same to give away, with `--redact` without what looks like a secret. */
export async function takeOut(call: Call, cli: Cli, action: 'restore' | 'export'): Promise<number> {
  const written = call.value('to')
  if (written === null) throw wrong({ name: 'archive' }, `Where to? baton archive ${action} ${call.words[1]} --to FILE.`)
  if (written === '-')
    throw wrong({ name: 'archive' }, '--to needs a file: a transcript is not printed.', 'A file named - is ./-.')
  if (written.endsWith('/'))
    throw wrong(
      { name: 'archive' },
      `${written} names a folder.`,
      `Name the file that is to be written, such as ${written}transcript.jsonl.`,
    )
  const to = resolve(cli.cwd, written)
  return inArchives(call, cli, (opened) => {
    const record = opened.archives.find(call.words[1]!)
    const part = partOf(record, call.value('subagent'))
    const counts = new Map<string, number>()
    const redacting = call.flag('redact')
    const patterns = redacting ? patternsFor(opened, cli, record, call.flag('emails')) : []
    restoreArchive(opened.archives.blocks, {
      ...{ part, to, force: call.flag('force'), segments: opened.archives.segments(part.streamId) },
      progress: (bytes) => opened.progress.add('unpacking:', bytes),
      ...(redacting ? { through: redactLines(patterns, counts) } : {}),
    })
    opened.progress.end()
    const removed = Object.fromEntries([...counts].sort())
    const about = { archive_id: record.archiveId, session_id: record.sessionId, path: to, bytes: part.bytes }
    if (call.json)
      cli.print(
        JSON.stringify(action === 'restore' ? { ...about, sha256: part.sha256 } : { ...about, redacted: redacting, removed }),
      )
    else
      cli.print(
        `${action === 'restore' ? 'Restored' : 'Exported'} ${bytesText(part.bytes)} to ${tilde(to, cli.env.HOME)}.${tail(redacting, removed)}`,
      )
    return EXIT.done
  })
}

function tail(redacting: boolean, removed: Record<string, number>): string {
  if (!redacting) return ''
  const list = Object.entries(removed).map(([name, count]) => `${count}× ${name}`)
  return list.length === 0
    ? ' Nothing in it looked like a secret.'
    : ` Removed: ${list.join(', ')}. Look it through before you give it away.`
}

/** A pattern that is missing because its file is wrong would let a secret out: then nothing is written. */
function patternsFor({ house }: Opened, cli: Cli, record: ArchiveRecord, emails: boolean): Pattern[] {
  const loaded = loadConfig({ home: house.home, project: record.project, env: cli.env })
  const [problem] = loaded.problems
  if (problem)
    throw new BatonError(
      `The configuration is wrong, so it is not known what to redact: ${problem.key} in ${problem.file} ${problem.reason}.`,
      problem.hint === '' ? 'baton config check tells more.' : `${problem.hint} (baton config check tells more).`,
      EXIT.usage,
    )
  const { policy } = house.policyOf({ agent: record.agent, project: record.project, model: null, seat: null })
  return [...ownPatterns(policy.archive.redact), ...BUILT_IN, ...(emails ? [E_MAIL] : [])]
}
