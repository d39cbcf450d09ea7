import { resolve } from 'node:path'
import { archiveNewText, type OpenedArchives, type UnreadTranscript } from '../../app/archives.js'
import { archiveFilter } from '../../archive/choose-archives.js'
import { parseQuery } from '../../archive/search/parse-query.js'
import type { ArchiveRecord, SearchHit } from '../../contract/records/archive.js'
import type { App } from '../../engine/open-engine.js'
import { EXIT } from '../../lib/errors.js'
import { replaceControls } from '../../lib/replace-controls.js'
import type { Call, Cli } from '../command.js'
import { withArchivesOpen } from '../open-archives.js'
import { usageError } from '../parse-call.js'
import { parseLimit } from '../parse-values.js'
import type { Paint } from '../render/screen.js'
import { bytesText, cutToWidth, localTimestamp, projectName, wrap } from '../render/text.js'
import { readInput } from '../terminal.js'

/** Time limit for reading the query from standard input, because nobody may be writing to it. */
const INPUT_MS = 5_000

export async function searchArchivesCommand(call: Call, cli: Cli): Promise<number> {
  const words = call.words.slice(1).join(' ')
  const query = words === '-' ? await readInput(process.stdin, INPUT_MS, INPUT_MS) : words
  const limit = parseLimit(call.value('limit'), 20)
  refuseEmptyQuery(query)
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
      cli.print(noHitsText(app.store.archives().length, query, cli.screen.columns))
    else if (hits.length > 0) cli.print(hits.flatMap((hit) => hitLines(hit, query, cli)).join('\n'))
    tellUnreadable(lost, cli)
    reportUnreadTranscripts(unread, cli)
    if (hits.length === limit) cli.note(`These are the best ${limit} hits. --limit N shows more.`)
    return hits.length === 0 && lost.size > 0 ? EXIT.failed : EXIT.done
  }
  return withArchivesOpen(call, cli, work, { finish: false })
}

/** Reports matches whose archive file is missing or damaged. */
export function tellUnreadable(archives: ReadonlySet<string>, cli: Cli): void {
  if (archives.size === 0) return
  const names = [...archives].join(', ')
  cli.note(`Matches in ${names} cannot be shown: their files are missing or damaged. Run baton archive verify.`)
}

export function refuseEmptyQuery(query: string): void {
  if (query.trim() === '')
    throw usageError(
      { name: 'archive' },
      'The query is empty.',
      'Give words, "a phrase", or the beginning of a word with a star (deploy*).',
    )
}

export function noHitsText(archives: number, query: string, columns: number, needs: 'all' | 'any' = 'all'): string {
  const text =
    archives === 0
      ? 'No hits, because there are no archives yet. baton import archives the transcripts on this disk.'
      : parseQuery(query).length === 0
        ? `No hits: ${replaceControls(query.trim())} contains no letter or digit, and only words are searched.`
        : needs === 'any'
          ? 'No hits. None of these words occurs in a prompt, answer, command or result.'
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

/** The part of the program that rendering needs. */
export type HitScreen = Pick<Cli, 'screen' | 'env'>

/** Renders the location of a match, and below it the text around the match. */
function hitLines(hit: SearchHit, query: string, { screen, env }: HitScreen): string[] {
  const width = Math.min(screen.columns, 160) - 2
  const text = wrap(replaceControls(hit.snippet), width, 0)
  return [hitHeading(hit, { screen, env }), ...text.map((line) => `  ${highlightWords(line, query, screen.paint)}`)]
}

/** Renders the place of a hit, its kind, session, project and time. */
export function hitHeading(hit: SearchHit, { screen, env }: HitScreen): string {
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
export function highlightWords(line: string, query: string, paint: Paint): string {
  const words = parseQuery(query).flatMap((term) => [term.words, ...(term.words.match(/[\p{L}\p{N}]+/gu) ?? [])])
  if (words.length === 0) return line
  const longest = [...new Set(words)]
    .sort((a, b) => b.length - a.length)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return line.replace(new RegExp(`(?<![\\p{L}\\p{N}])(?:${longest.join('|')})`, 'giu'), (found) => paint(found, 'bold'))
}
