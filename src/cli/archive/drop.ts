import { forgetLiveSummary } from '../../agents/claude-code/live-summary.js'
import type { Archives } from '../../archive/archive.js'
import { configuredRounds } from '../../archive/configured-retention.js'
import type { ArchiveRecord } from '../../contract/archive.js'
import type { House } from '../../house.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import type { Call, Cli } from '../command.js'
import { wrong } from '../parse-call.js'
import { bytesText } from '../render/bytes.js'
import { wrap } from '../render/wrap.js'
import { ofProject, sessionsNamed } from './choose.js'
import { archiveTable } from './list.js'
import { inArchives } from './open-archives.js'
import { parseAge, parseSize } from './parse-limits.js'

/** From here on people would wonder what it is doing. */
const LONG_BYTES = 20_000_000

/** Removes what is too old or too much, as asked for or as configured. */
export async function prune(call: Call, cli: Cli): Promise<number> {
  const [age, size] = [call.value('older-than'), call.value('max-size')]
  const retention = {
    olderThan: age === null ? null : parseAge(age, cli.now()),
    mostBytes: size === null ? null : parseSize(size),
  }
  return inArchives(call, cli, ({ house, archives }) => {
    const chosen = age === null && size === null ? configured(house, archives) : archives.choose(retention)
    return drop(call, cli, archives, chosen, 'prune')
  })
}

function configured(house: House, archives: Archives): ArchiveRecord[] {
  const rules = (project: string | null) =>
    house.policyOf({ agent: 'claude-code', project, model: null, seat: null }).policy.archive
  const rounds = configuredRounds(house.store.archives(), rules, house.now())
  if (rounds.length === 0)
    throw wrong(
      { name: 'archive' },
      'What is to be pruned? The configuration keeps everything.',
      'Say --older-than 30d or --max-size 10GB, or set archive.keep_days or archive.keep_bytes.',
    )
  const dropped = new Map<string, ArchiveRecord>()
  for (const { among, retention } of rounds) {
    const left = (record: ArchiveRecord): boolean => among(record) && !dropped.has(record.archiveId)
    for (const record of archives.choose(retention, left)) dropped.set(record.archiveId, record)
  }
  return [...dropped.values()]
}

/** Removes everything that was kept of a session or of a project. */
export async function forget(call: Call, cli: Cli): Promise<number> {
  const session = call.words[1]
  const project = call.value('project')
  if ((session === undefined) === (project === null))
    throw wrong({ name: 'archive' }, 'Forget what? baton archive forget <session>, or baton archive forget --project DIR.')
  return inArchives(
    call,
    cli,
    ({ house, archives }) => {
      const wanted = project === null ? oneSession(house, session!) : ofProject(cli, project)
      const records = house.store.archives().filter(wanted)
      if (records.length === 0)
        throw new BatonError(
          project === null ? `Nothing is kept of ${session}.` : `Nothing is kept of the project ${project}.`,
          'baton archive list shows what is kept.',
          EXIT.notFound,
        )
      if (!call.flag('dry-run')) forgetFacts(house, new Set(records.map(({ sessionId }) => sessionId)))
      return drop(call, cli, archives, records, 'forget')
    },
    // What is only planned is forgotten too, so it need not be kept first.
    { finish: false },
  )
}

/** What was read from the transcripts are words of them too. */
function forgetFacts(house: House, sessions: ReadonlySet<string>): void {
  house.store.transaction(() => {
    for (const sessionId of sessions) house.store.dropCompactions(sessionId)
  })
  for (const sessionId of sessions) forgetLiveSummary(house.home.live, sessionId)
}

function oneSession(house: House, id: string): (record: ArchiveRecord) => boolean {
  const found = sessionsNamed(house, id)
  if (found.length > 1)
    throw new BatonError(`${id} is a seat of ${found.length} sessions.`, 'Name one session at a time.', EXIT.usage)
  return ({ sessionId }) => sessionId === found[0]
}

function drop(call: Call, cli: Cli, archives: Archives, records: readonly ArchiveRecord[], action: 'prune' | 'forget'): number {
  const dry = call.flag('dry-run')
  const before = archives.sizes()
  const shown = archives.view(records)
  if (!dry && shown.length > 0 && before.indexBytes > LONG_BYTES)
    cli.note('Taking every word of it out of the index; that may take a minute …')
  const freed = dry ? archives.frees(records) : archives.remove(records, { thorough: true }).freedBytes
  const indexFreed = dry ? null : Math.max(0, before.indexBytes - archives.sizes().indexBytes)
  if (call.json) {
    const sizes = archives.sizes()
    cli.print(
      JSON.stringify({
        ...{ dry_run: dry, archives: shown, freed_bytes: freed, freed_index_bytes: indexFreed },
        ...{ left: dry ? before.archives - shown.length : sizes.archives, left_bytes: dry ? before.bytes - freed : sizes.bytes },
      }),
    )
    return EXIT.done
  }
  if (shown.length === 0) cli.print('Nothing is too old or too much.')
  else {
    cli.print(archiveTable(shown, cli).join('\n'))
    const count = shown.length === 1 ? '1 archive' : `${shown.length} archives`
    const why = freed === 0 ? ', because later archives of the same sessions hold the same bytes' : ''
    const said = dry
      ? `Would ${action} ${count} and free ${bytesText(freed)}${why}.`
      : `${action === 'prune' ? 'Pruned' : 'Forgot'} ${count}; freed ${bytesText(freed)}${why} and ${bytesText(indexFreed!)} of the index.`
    cli.print(wrap(said, cli.screen.columns, 0).join('\n'))
  }
  return EXIT.done
}
