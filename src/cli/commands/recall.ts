import { callingSession, SESSION_VARIABLES } from '../../agents/clients.js'
import { archiveNewText, type OpenedArchives } from '../../app/archives.js'
import { withOpenApp } from '../../app/open-app.js'
import { sessionNamed } from '../../app/sessions.js'
import { resolveSessionIds } from '../../archive/choose-archives.js'
import type { SearchRequest } from '../../archive/search/search-archives.js'
import type { SearchHit } from '../../contract/records/archive.js'
import type { CompactionRecord, LossReport } from '../../contract/records/compaction.js'
import type { App } from '../../engine/open-engine.js'
import { putBackCheck } from '../../facts/fact-key.js'
import { EXIT } from '../../lib/errors.js'
import { replaceControls } from '../../lib/replace-controls.js'
import type { Call, Cli, Command } from '../command.js'
import { withArchivesOpen } from '../open-archives.js'
import { usageError } from '../parse-call.js'
import { parseLimit } from '../parse-values.js'
import { factLines } from '../render/briefs.js'
import { keptFactsLine, kindsText, whyNoReport } from '../render/session-page.js'
import { localTimestamp, wrap } from '../render/text.js'

import {
  type HitScreen,
  highlightWords,
  hitHeading,
  noHitsText,
  refuseEmptyQuery,
  reportUnreadTranscripts,
  tellUnreadable,
} from './archive-search.js'

export const recallCommand: Command = {
  name: 'recall',
  summary: 'find what was said or done before a compaction',
  usage: ['<query> [--session ID] [--limit N]', '--lost [query] [--session ID] [--before-last N]'],
  about:
    'Searches the archives for prompts, answers, commands and results, and prints them with what stands before ' +
    'and after. Hits with all words come first, then those with any of them, by rank, so that a question in plain ' +
    'words finds its answer. "a phrase" matches its words in this order, and word* matches the beginning of a word.\n' +
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
    ['baton recall which port does the proxy listen on', 'a question in plain words'],
    ['baton recall \'"exit code 137"\' --limit 1', 'a phrase, only the best hit'],
    ["baton recall 'deploy*' --session d76d6c4d --json", 'for a script'],
    ['baton recall --lost', 'all facts that the last compaction dropped'],
    ['baton recall --lost migrations --session api', 'those of seat api that name migrations'],
  ],
  json:
    '{hits: [{archive_id, line, kind, text, before, after, …}], scope: session|seat|all, unreadable, ' +
    'unread: [{session_id, archive_id, bytes}]}. ' +
    'With --lost {session_id, compaction_started_at, facts, facts_kept, by_kind, hits, scope}, each hit with state ' +
    'and put_back',
  run: runRecall,
}

/** Longest text of a hit that is shown, when few are requested. */
const LONGEST_TEXT = 10_000
/**
 * Maximum characters of all hits together.
 * Five hits with their surroundings then fit the 30,000 characters of a command's output.
 * Claude Code shows its agent no more than these.
 */
const MOST_TEXT = 20_000
/** Shortest text of a hit, however many are requested. */
const SHORTEST_TEXT = 1_500
const SURROUNDINGS = 900

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
  refuseEmptyQuery(query)
  const work = (opened: OpenedArchives): number => {
    const fresh = archiveNewText(opened)
    const lost = new Set<string>()
    const asked = {
      query,
      limit,
      textLength: Math.max(SHORTEST_TEXT, Math.min(LONGEST_TEXT, Math.floor(MOST_TEXT / limit))),
      surroundings: SURROUNDINGS,
      unreadable: (id: string): void => void lost.add(id),
      within: fresh.within,
    }
    const { hits, scope } = look(opened, asked, call.value('session'), callingSession(cli.env))
    const unread = fresh.unread()
    tellUnreadable(lost, cli)
    reportUnreadTranscripts(unread, cli)
    if (call.json) cli.print(JSON.stringify({ hits, scope, unreadable: [...lost], unread }))
    else if (hits.length === 0 && lost.size > 0) return EXIT.failed
    else if (hits.length === 0)
      cli.print(noHitsText(opened.app.store.archives().length, query, cli.screen.columns, 'any'))
    else cli.print(hits.map((hit) => wholeHit(hit, query, cli).join('\n')).join('\n\n'))
    return EXIT.done
  }
  return withArchivesOpen(call, cli, work, { finish: false })
}

/**
 * Searches the named session, else the caller's own seat, else everything.
 * Another session with all words is better than the own seat with some of them.
 */
function look(
  { app, archives }: OpenedArchives,
  asked: SearchRequest,
  session: string | null,
  own: string | undefined,
): { hits: SearchHit[]; scope: Scope } {
  const within = (sessions: string[], anyWord: boolean): SearchHit[] => {
    const wanted = new Set(sessions)
    return archives.search({ ...asked, anyWord, among: ({ sessionId }) => wanted.has(sessionId) })
  }
  if (session !== null) return { hits: within(resolveSessionIds(app, session), true), scope: 'session' }
  const record = own ? app.store.session(own) : null
  const seat = record ? app.store.chain(record.seatId).map(({ sessionId }) => sessionId) : []
  const isInSeat = seat.length > 0 && within(seat, false).length > 0
  if (seat.length > 0 && (isInSeat || archives.search({ ...asked, limit: 1 }).length === 0)) {
    const hits = within(seat, true)
    if (hits.length > 0) return { hits, scope: 'seat' }
  }
  return { hits: archives.search({ ...asked, anyWord: true }), scope: 'all' }
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
 * Finds the newest compaction of the named session or seat.
 * Without a name, searches the agent's own seat.
 * Searches all seats outside an agent, or when the agent's own seat has no compaction.
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
  const back = found ? putBackCheck(found) : () => false
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
  const back = putBackCheck(found)
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

/** Renders a match with the text of its message, between the entries before and after it. */
function wholeHit(hit: SearchHit, query: string, { screen, env }: HitScreen): string[] {
  const width = Math.min(screen.columns, 160) - 4
  const linesOf = (text: string): string[] =>
    text
      .split('\n')
      .flatMap((line) => (screen.terminal ? wrap(replaceControls(line), width, 0) : replaceControls(line)))
  const beside = (text: string | undefined): string[] =>
    text ? linesOf(text).map((line) => screen.paint(`  ┊ ${line}`.trimEnd(), 'dim')) : []
  return [
    hitHeading(hit, { screen, env }),
    ...beside(hit.before),
    ...linesOf(hit.text).map((line) => `  ${highlightWords(line, query, screen.paint)}`.trimEnd()),
    ...beside(hit.after),
  ]
}
