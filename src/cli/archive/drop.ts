import { resolve } from 'node:path'
import { forgetLiveSummary } from '../../agents/claude-code/live-summary.js'
import { forgetOrders } from '../../agents/claude-code/orders.js'
import type { Archives } from '../../archive/archive.js'
import { ofProject, sessionsNamed } from '../../archive/choose-archives.js'
import { configuredRounds } from '../../archive/configured-retention.js'
import { forgetBriefs } from '../../briefs/forget-briefs.js'
import type { ArchiveRecord } from '../../contract/archive.js'
import { forgetFacts, hasFacts } from '../../engine/kept-facts.js'
import type { House } from '../../house.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import type { Call, Cli } from '../command.js'
import { wrong } from '../parse-call.js'
import { bytesText } from '../render/bytes.js'
import { wrap } from '../render/wrap.js'
import { forgetMessages, layAnew, readWith } from './forget-messages.js'
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
  const [problem] = house.policyOf({ agent: 'claude-code', project: null, model: null, seat: null }).problems
  if (rounds.length === 0 && problem)
    throw new BatonError(
      `The configuration is wrong, so it is not known what to keep: ${problem.key} in ${problem.file} ${problem.reason}.`,
      'baton config check tells more. Or say --older-than 30d or --max-size 10GB.',
      EXIT.usage,
    )
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
      if (session?.startsWith('arc_')) return drop(call, cli, archives, [archives.find(session)], 'forget')
      const sessions = project === null ? oneSession(house, session!) : sessionsOf(house, ofProject(resolve(cli.cwd, project)))
      const records = house.store.archives().filter(({ sessionId }) => sessions.has(sessionId))
      const quoted = [...sessions].some((sessionId) => isQuoted(house, sessionId))
      if (records.length === 0 && !quoted)
        throw new BatonError(
          project === null ? `Nothing is kept of ${session}.` : `Nothing is kept of the project ${resolve(cli.cwd, project)}.`,
          'baton archive list shows what is kept.',
          EXIT.notFound,
        )
      const words = call.flag('dry-run') ? 0 : forgetWords(house, sessions)
      return drop(call, cli, archives, records, 'forget', { quoted, words })
    },
    // What is only planned is forgotten too, so it need not be kept first.
    { finish: false },
  )
}

/** What was read from the transcripts, and what of it was told, are words of them too. How many entries held some. */
function forgetWords(house: House, sessions: ReadonlySet<string>): number {
  const { store, home } = house
  let words = 0
  const told = new Set([...sessions].flatMap((sessionId) => begunFrom(house, sessionId)))
  store.transaction(() => {
    for (const sessionId of sessions) words += store.forgetWords(sessionId)
  })
  for (const sessionId of told) if (!sessions.has(sessionId)) layAnew(house, sessionId)
  for (const sessionId of sessions) {
    forgetLiveSummary(home.live, sessionId)
    forgetOrders(home.live, sessionId)
    forgetMessages(house, sessionId)
    forgetFacts(home.facts, sessionId)
    forgetBriefs(home.briefs, { sessionId, briefs: store.briefs({ sessionId }) })
    store.transaction(() => {
      store.dropBriefs(sessionId)
      // Once more, so that the pages the briefs stood in are written over too.
      store.forgetWords(sessionId)
      const record = store.session(sessionId)
      if (record) store.putSession({ ...record, forgottenAt: house.now().toISOString() })
    })
  }
  return words
}

/** Sessions that were given a brief of this one. */
function begunFrom({ store }: House, sessionId: string): string[] {
  const handoffs = store.handoffs({ sessionId }).map(({ newSessionId }) => newSessionId)
  return [...handoffs, ...store.briefs({ sessionId }).map(({ usedBySessionId }) => usedBySessionId)].filter((id) => id !== null)
}

const isQuoted = (house: House, sessionId: string): boolean =>
  house.store.compactions(sessionId).length > 0 ||
  house.store.briefs({ sessionId, limit: 1 }).length > 0 ||
  house.store.handoffs({ sessionId }).some(({ draft, reason, trouble }) => (draft ?? reason ?? trouble) !== null) ||
  hasFacts(house.home.facts, sessionId) ||
  readWith(house, sessionId).length > 0

/** Sessions of a project that have archives, and those that were only read. */
function sessionsOf(house: House, wanted: (of: { project: string | null }) => boolean): Set<string> {
  return new Set([...house.store.archives(), ...house.store.sessions()].filter(wanted).map(({ sessionId }) => sessionId))
}

function oneSession(house: House, id: string): Set<string> {
  const found = sessionsNamed(house, id)
  if (found.length > 1)
    throw new BatonError(`${id} is a seat of ${found.length} sessions.`, 'Name one session at a time.', EXIT.usage)
  return new Set(found)
}

function drop(
  call: Call,
  cli: Cli,
  archives: Archives,
  records: readonly ArchiveRecord[],
  action: 'prune' | 'forget',
  { quoted, words: forgotten }: { quoted: boolean; words: number } = { quoted: false, words: 0 },
): number {
  const dry = call.flag('dry-run')
  const before = archives.sizes()
  const shown = archives.view(records)
  if (!dry && shown.length > 0 && before.indexBytes > LONG_BYTES)
    cli.note('Taking every word of it out of the index; that may take a minute …')
  const shared = isShared(archives, records)
  const freed = dry ? archives.frees(records) : archives.remove(records, { thorough: true }).freedBytes
  const indexFreed = dry ? null : Math.max(0, before.indexBytes - archives.sizes().indexBytes)
  if (call.json) {
    const sizes = archives.sizes()
    cli.print(
      JSON.stringify({
        ...{ dry_run: dry, archives: shown, freed_bytes: freed, freed_index_bytes: indexFreed },
        ...{ left: dry ? before.archives - shown.length : sizes.archives, left_bytes: dry ? before.bytes - freed : sizes.bytes },
        ...(action === 'forget' ? { words: forgotten } : {}),
      }),
    )
    return EXIT.done
  }
  const words = 'what was quoted of it in loss reports, summaries, briefs and messages'
  if (shown.length === 0 && quoted) cli.print(dry ? `Would forget ${words}.` : `Forgot ${words}; there was no archive.`)
  else if (shown.length === 0) cli.print('Nothing is too old or too much.')
  else {
    cli.print(archiveTable(shown, cli).join('\n'))
    const count = shown.length === 1 ? '1 archive' : `${shown.length} archives`
    const why = freed === 0 && shared ? ', because other archives of the same sessions hold the same bytes' : ''
    const said = dry
      ? `Would ${action} ${count} and free ${bytesText(freed)}${why}.`
      : `${action === 'prune' ? 'Pruned' : 'Forgot'} ${count}; freed ${bytesText(freed)}${why} and ${bytesText(indexFreed!)} of the index.`
    cli.print(
      wrap(quoted ? `${said} ${dry ? 'Would also forget' : 'Forgot also'} ${words}.` : said, cli.screen.columns, 0).join('\n'),
    )
  }
  return EXIT.done
}

/** Whether archives that stay need everything these hold. What was never kept, or holds nothing, frees nothing for another reason. */
function isShared(archives: Archives, records: readonly ArchiveRecord[]): boolean {
  const holds = records.some(({ parts }) => parts.some(({ streamId }) => streamId !== null))
  return holds && archives.frees(records) === 0
}
