import { resolve } from 'node:path'
import { callingSession, SESSION_VARIABLES } from '../../agents/clients.js'
import { archiveNewText, type OpenedArchives, type UnreadTranscript } from '../../app/archives.js'
import { withOpenApp } from '../../app/open-app.js'
import { sessionNamed } from '../../app/sessions.js'
import { archiveFilter, findArchivedSessions } from '../../archive/choose-archives.js'
import { parseQuery } from '../../archive/search/parse-query.js'
import type { SearchRequest } from '../../archive/search/search-archives.js'
import type { ArchiveRecord, Hit } from '../../contract/records/archive.js'
import type { CompactionRecord, LossReport } from '../../contract/records/compaction.js'
import type { App } from '../../engine/open-engine.js'
import { isPutBack } from '../../facts/fact-key.js'
import { EXIT } from '../../lib/errors.js'
import { replaceControls } from '../../lib/shown-text.js'
import type { Call, Cli, Command } from '../command.js'
import { withArchivesOpen } from '../open-archives.js'
import { usageError } from '../parse-call.js'
import { parseLimit } from '../parse-values.js'
import { factLines } from '../render/briefs.js'
import type { Paint } from '../render/screen.js'
import { keptFactsLine, kindsText, whyNoReport } from '../render/session-page.js'
import { bytesText, cutToWidth, localTimestamp, projectName, wrap } from '../render/text.js'
import { readInput } from '../terminal.js'

/** Time limit for reading the query from standard input, because nobody may be writing to it. */
const INPUT_MS = 5_000

export async function searchArchivesCommand(call: Call, cli: Cli): Promise<number> {
  const words = call.words.slice(1).join(' ')
  const query = words === '-' ? await readInput(process.stdin, INPUT_MS, INPUT_MS) : words
  const limit = parseLimit(call.value('limit'), 20)
  refuseEmpty(query)
  const work = (opened: OpenedArchives): number => {
    const { app, archives } = opened
    const wanted = archiveFilterOf(call, cli, app)
    const fresh = archiveNewText(opened)
    const lost = new Set<string>()
    const unreadable = (id: string): void => void lost.add(id)
    const { within } = fresh
    const hits = archives.search({ query, limit, unreadable, within, ...(wanted ? { among: wanted } : {}) })
    const unread = fresh.unread()
    if (call.json) cli.print(JSON.stringify({ hits, unreadable: [...lost], unread }))
    else if (hits.length === 0 && lost.size === 0)
      cli.print(nothing(app.store.archives().length, query, cli.screen.columns))
    else if (hits.length > 0) cli.print(hits.flatMap((hit) => hitLines(hit, query, cli)).join('\n'))
    tellUnreadable(lost, cli)
    reportUnreadTranscripts(unread, cli)
    if (hits.length === limit) cli.note(`These are the best ${limit} hits. --limit N shows more.`)
    return hits.length === 0 && lost.size > 0 ? EXIT.failed : EXIT.done
  }
  return withArchivesOpen(call, cli, work, { finish: false })
}

/** Reports matches whose archive file is missing or damaged. */
function tellUnreadable(archives: ReadonlySet<string>, cli: Cli): void {
  if (archives.size === 0) return
  const names = [...archives].join(', ')
  cli.note(`Matches in ${names} cannot be shown: their files are missing or damaged. Run baton archive verify.`)
}

function refuseEmpty(query: string): void {
  if (query.trim() === '')
    throw usageError(
      { name: 'archive' },
      'The query is empty.',
      'Give words, "a phrase", or the beginning of a word with a star (deploy*).',
    )
}

function nothing(archives: number, query: string, columns: number): string {
  const text =
    archives === 0
      ? 'No hits, because there are no archives yet. baton import archives the transcripts on this disk.'
      : parseQuery(query).length === 0
        ? `No hits: ${replaceControls(query.trim())} contains no letter or digit, and only words are searched.`
        : 'No hits. All words must occur in the same prompt, answer, command or result; try fewer words.'
  return wrap(text, columns, 0).join('\n')
}

/**
 * Returns the filter of `--session` and `--project`. Null when both are absent.
 * Throws when they match nothing.
 */
export function archiveFilterOf(call: Call, cli: Cli, app: App): ((record: ArchiveRecord) => boolean) | null {
  const session = call.value('session')
  const project = call.value('project')
  if (session === null && project === null) return null
  return archiveFilter(app, { session, folder: project === null ? null : resolve(cli.cwd, project) })
}

const MOST_NAMED = 3

export function reportUnreadTranscripts(unread: readonly UnreadTranscript[], cli: Cli): void {
  if (unread.length === 0) return
  const bytes = unread.reduce((sum, one) => sum + one.bytes, 0)
  const sessions = [...new Set(unread.map((one) => replaceControls(one.session_id.slice(0, 8))))]
  const more = sessions.length > MOST_NAMED ? ` and ${sessions.length - MOST_NAMED} more` : ''
  cli.note(
    `Not searched, because 5 s were not enough: ${sessions.slice(0, MOST_NAMED).join(', ')}${more} ` +
      `(${bytesText(bytes)}). ` +
      'Baton reads them in the background now; baton archive finish waits for it.',
  )
}

export const recallCommand: Command = {
  name: 'recall',
  summary: 'find what was said or done before a compaction',
  usage: ['<query> [--session ID] [--limit N]', '--lost [query] [--session ID] [--before-last N]'],
  about:
    'Searches the archives for prompts, answers, commands and results, and prints them in full. ' +
    'All words must occur in the same one. "a phrase" matches its words in this order, ' +
    'and word* matches the beginning of a word.\n' +
    `An agent (${SESSION_VARIABLES} is set) searches the sessions of its own seat, which is the terminal or job it ` +
    'runs in, ' +
    'and all others only if that finds nothing.\n' +
    'New text is archived first, for at most 5 s; recall names what it could not read in that time. ' +
    'Sessions that still run become searchable when they compact, hand off or end.\n' +
    '--lost lists the facts that the summary of the last compaction lacks, the most needed first. A query filters ' +
    'them.',
  options: {
    lost: { type: 'boolean', about: 'list the facts that the last compaction dropped' },
    'before-last': { type: 'string', value: 'N', about: 'with --lost: the Nth compaction before the last one' },
    session: { type: 'string', value: 'ID', about: 'only this session, or all sessions of a seat' },
    limit: { type: 'string', value: 'N', about: 'maximum number of hits (default: 5; with --lost all)' },
  },
  words: { min: 0, max: 100 },
  examples: [
    ['baton recall "never touch the migrations"', 'words that occur together'],
    ['baton recall \'"exit code 137"\' --limit 1', 'a phrase, only the best hit'],
    ["baton recall 'deploy*' --session d76d6c4d --json", 'for a script'],
    ['baton recall --lost', 'all facts that the last compaction dropped'],
    ['baton recall --lost migrations --session api', 'those of seat api that name migrations'],
  ],
  json:
    '{hits: [{archive_id, line, kind, text, …}], scope: session|seat|all, unreadable, ' +
    'unread: [{session_id, archive_id, bytes}]}. ' +
    'With --lost {session_id, compaction_started_at, facts, facts_kept, by_kind, hits, scope}, each hit with state ' +
    'and put_back',
  run: runRecall,
}

async function runRecall(call: Call, cli: Cli): Promise<number> {
  if (call.flag('lost')) return recallLost(call, cli)
  const query = call.words.join(' ')
  const limit = parseLimit(call.value('limit'), 5)
  if (call.words.length === 0)
    throw usageError(
      recallCommand,
      'baton recall needs a query.',
      'Give words: baton recall <query>. baton recall --lost lists what the last compaction dropped.',
    )
  refuseEmpty(query)
  const work = (opened: OpenedArchives): number => {
    const fresh = archiveNewText(opened)
    const lost = new Set<string>()
    const asked = {
      query,
      limit,
      textLength: 10_000,
      unreadable: (id: string): void => void lost.add(id),
      within: fresh.within,
    }
    const { hits, scope } = look(opened, asked, call.value('session'), callingSession(cli.env))
    const unread = fresh.unread()
    tellUnreadable(lost, cli)
    reportUnreadTranscripts(unread, cli)
    if (call.json) cli.print(JSON.stringify({ hits, scope, unreadable: [...lost], unread }))
    else if (hits.length === 0 && lost.size > 0) return EXIT.failed
    else if (hits.length === 0) cli.print(nothing(opened.app.store.archives().length, query, cli.screen.columns))
    else cli.print(hits.map((hit) => wholeHit(hit, query, cli).join('\n')).join('\n\n'))
    return EXIT.done
  }
  return withArchivesOpen(call, cli, work, { finish: false })
}

function look(
  { app, archives }: OpenedArchives,
  asked: SearchRequest,
  session: string | null,
  own: string | undefined,
): { hits: Hit[]; scope: 'session' | 'seat' | 'all' } {
  const within = (sessions: string[]): Hit[] => {
    const wanted = new Set(sessions)
    return archives.search({ ...asked, among: ({ sessionId }) => wanted.has(sessionId) })
  }
  if (session !== null) return { hits: within(findArchivedSessions(app, session)), scope: 'session' }
  const record = own ? app.store.session(own) : null
  const near = record ? within(app.store.chain(record.seatId).map(({ sessionId }) => sessionId)) : []
  if (near.length > 0) return { hits: near, scope: 'seat' }
  return { hits: archives.search(asked), scope: 'all' }
}

type Scope = 'session' | 'seat' | 'all'
type Reported = CompactionRecord & { loss: LossReport }

/** Implements `recall --lost`: lists the facts that the newest compaction with a report dropped. */
function recallLost(call: Call, cli: Cli): Promise<number> {
  const limit = parseLimit(call.value('limit'), Number.POSITIVE_INFINITY)
  const back = parseLimit(call.value('before-last'), 0)
  return withOpenApp(cli, (app) => {
    const { found, unreported, scope } = newest(app, call.value('session'), callingSession(cli.env), back)
    const words = call.words.join(' ').toLowerCase().split(/\s+/).filter(Boolean)
    const lost = (found?.loss.lost ?? []).filter(({ kind, text }) => {
      const all = `${kind} ${text}`.toLowerCase()
      return words.every((word) => all.includes(word))
    })
    const shown = lost.slice(0, limit)
    const archived = found !== null && found.archiveId !== null && app.store.archive(found.archiveId)?.status === 'kept'
    if (call.json) cli.print(JSON.stringify({ ...view(found, shown), scope }))
    else cli.print(page({ found, unreported, shown, matching: lost.length, archived }, cli).join('\n'))
    return EXIT.done
  })
}

interface Newest {
  /** The newest compaction that has a report. */
  found: Reported | null
  /** A later compaction without a report. */
  unreported: CompactionRecord | null
  scope: Scope
}

/**
 * Finds the newest compaction of the named session or seat,
 * or else of the agent's own seat, or else of all.
 */
function newest(app: App, named: string | null, own: string | undefined, back: number): Newest {
  const { store } = app
  const among = (ids: readonly string[]): Omit<Newest, 'scope'> => {
    const all = ids.flatMap((id) => store.compactions(id)).sort((a, b) => (a.startedAt < b.startedAt ? -1 : 1))
    const reported = all.filter((one): one is Reported => one.loss !== null)
    const found = reported.at(-1 - back) ?? null
    const last = all.at(-1) ?? null
    return { found, unreported: back > 0 || last === found ? null : last }
  }
  const chainOf = (seatId: string): string[] => store.chain(seatId).map(({ sessionId }) => sessionId)
  if (named !== null) {
    const seat = store.seatByName(named) ?? store.seat(named)
    return { ...among(seat ? chainOf(seat.seatId) : [sessionNamed(app, named).sessionId]), scope: 'session' }
  }
  const record = own ? store.session(own) : null
  const near = record ? among(chainOf(record.seatId)) : null
  if (near && (near.found || near.unreported)) return { ...near, scope: 'seat' }
  return { ...among(store.sessions().map(({ sessionId }) => sessionId)), scope: 'all' }
}

function view(found: Reported | null, lost: LossReport['lost']): Record<string, unknown> {
  const back = found ? isPutBack(found) : () => false
  return {
    session_id: found?.sessionId ?? null,
    compaction_started_at: found?.startedAt ?? null,
    facts: found?.loss.total ?? null,
    facts_kept: found?.loss.kept ?? null,
    by_kind: found?.loss.byKind ?? {},
    hits: lost.map((fact) => ({
      archive_id: found?.archiveId ?? null,
      line: fact.line,
      kind: fact.kind,
      text: fact.text,
      state: fact.state,
      put_back: back(fact),
    })),
  }
}

interface Found extends Omit<Newest, 'scope'> {
  shown: LossReport['lost']
  matching: number
  /** True while the archive of the compaction exists. */
  archived: boolean
}

function page({ found, unreported, shown, matching, archived }: Found, { screen }: Cli): string[] {
  const { columns, paint } = screen
  const note = unreported
    ? wrap(
        paint(`The compaction at ${localTimestamp(unreported.startedAt)} has ${whyNoReport(unreported)}.`, 'yellow'),
        columns,
        0,
      )
    : []
  if (found === null)
    return unreported
      ? note
      : wrap('No compaction is recorded. baton recall <query> searches the archives.', columns, 0)
  const back = isPutBack(found)
  const more = matching - shown.length
  const place = archived ? `; archive ${found.archiveId} has the transcript before it` : ''
  const nothing = found.loss.lost.length === 0 ? 'No facts were lost.' : 'No lost fact contains all these words.'
  return [
    ...note,
    ...wrap(
      `Session ${paint(replaceControls(found.sessionId.slice(0, 8)), 'bold')} compacted at ` +
        `${localTimestamp(found.startedAt)}${place}`,
      columns,
      0,
    ),
    ...wrap(keptFactsLine(found.loss, paint), columns, 0),
    ...wrap(paint(kindsText(found.loss), 'dim'), columns, 0),
    '',
    ...(matching === 0 ? [nothing] : shown.flatMap((fact) => factLines(fact, back(fact), columns, paint))),
    ...(more > 0 ? [paint(`and ${more} more`, 'dim')] : []),
    ...(shown.some(back) ? ['', paint('↩ Baton put the fact back into the conversation', 'dim')] : []),
  ]
}

type On = Pick<Cli, 'screen' | 'env'>

/** Renders the location of a match, and below it the text around the match. */
function hitLines(hit: Hit, query: string, { screen, env }: On): string[] {
  const width = Math.min(screen.columns, 160) - 2
  const text = wrap(replaceControls(hit.snippet), width, 0)
  return [head(hit, { screen, env }), ...text.map((line) => `  ${marked(line, query, screen.paint)}`)]
}

/** Renders a match with the whole text of its message. */
function wholeHit(hit: Hit, query: string, { screen, env }: On): string[] {
  const lines = hit.text
    .split('\n')
    .flatMap((line) => wrap(replaceControls(line), Math.min(screen.columns, 160) - 2, 0))
  return [head(hit, { screen, env }), ...lines.map((line) => `  ${marked(line, query, screen.paint)}`.trimEnd())]
}

function head(hit: Hit, { screen, env }: On): string {
  const { paint, columns } = screen
  const place = `${hit.archive_id}:${hit.line}${hit.subagent === null ? '' : ` in ${replaceControls(hit.subagent)}`}`
  const about = [
    hit.kind,
    replaceControls(hit.session_id.slice(0, 8)),
    projectName(hit.project, env.HOME),
    ...(hit.at === null ? [] : [localTimestamp(hit.at)]),
  ]
  return cutToWidth(`${paint(place, 'cyan')}  ${paint(about.join('  '), 'dim')}`, columns)
}

/** Highlights the searched words where they appear as typed. */
function marked(line: string, query: string, paint: Paint): string {
  const words = parseQuery(query).flatMap((term) => [term.words, ...(term.words.match(/[\p{L}\p{N}]+/gu) ?? [])])
  if (words.length === 0) return line
  const longest = [...new Set(words)]
    .sort((a, b) => b.length - a.length)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return line.replace(new RegExp(`(?<![\\p{L}\\p{N}])(?:${longest.join('|')})`, 'giu'), (found) => paint(found, 'bold'))
}
