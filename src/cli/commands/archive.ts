import { join } from 'node:path'
import { cleanupLimits } from '../../app/archives.js'
import type { Archive, ArchiveRecord, SegmentRecord } from '../../contract/records/archive.js'
import { EXIT } from '../../lib/errors.js'
import { formatCount } from '../../lib/format-count.js'
import { displayPath, replaceControls } from '../../lib/replace-controls.js'
import { archiveTriggerText } from '../../policy/archive-trigger-text.js'
import type { ActionHelp, Call, Cli, Command, Option } from '../command.js'
import { withArchivesOpen } from '../open-archives.js'
import { checkActionForm, usageError } from '../parse-call.js'
import { type Column, table } from '../render/table.js'
import { ageText, bytesText, localTimestamp, padEnd, projectName, wrap } from '../render/text.js'
import { archiveFilterOf } from './archive-search.js'

const ACTIONS = [
  'list',
  'show',
  'restore',
  'export',
  'search',
  'verify',
  'adopt',
  'prune',
  'forget',
  'keep',
  'finish',
] as const
type Action = (typeof ACTIONS)[number]

const options = {
  to: { type: 'string', value: 'FILE', about: 'restore, export: the file to write' },
  force: { type: 'boolean', about: 'restore, export: replace an existing file' },
  redact: {
    type: 'boolean',
    about: 'export: remove likely keys, tokens and passwords, and what archive.redact matches',
  },
  emails: { type: 'boolean', about: 'export: with --redact, also remove e-mail addresses' },
  subagent: { type: 'string', value: 'NAME', about: 'restore, export: the transcript of this subagent' },
  session: { type: 'string', value: 'ID', about: 'list, search: only this session, or all sessions of a seat' },
  project: { type: 'string', value: 'DIR', about: 'list, search, forget: only the project of this folder' },
  limit: { type: 'string', value: 'N', about: 'search: maximum number of hits (default: 20)' },
  'older-than': { type: 'string', value: 'D', about: 'prune: older than an age (12h, 30d, 8w) or a date' },
  'max-size': {
    type: 'string',
    value: 'S',
    about: 'prune: the oldest archives, until the others take at most this size (10GB, 500MB, 2GiB)',
  },
  'dry-run': { type: 'boolean', about: 'adopt, prune, forget: only show what would be done' },
} satisfies Record<string, Option>

/** Help, number of arguments and options of each action. */
const FORMS: Record<Action, ActionHelp & { least: number; most: number; options: (keyof typeof options)[] }> = {
  list: { summary: 'list archives, newest first', least: 0, most: 0, options: ['session', 'project'] },
  show: { summary: 'show an archive: its origin, size and files', least: 1, most: 1, options: [] },
  restore: {
    summary: 'write an archived transcript to a file, unchanged',
    least: 1,
    most: 1,
    options: ['to', 'force', 'subagent'],
  },
  export: {
    summary: 'write an archived transcript to a file, if you like without secrets',
    about: 'Redaction finds what looks like a secret. Read the file before you share it.',
    least: 1,
    most: 1,
    options: ['to', 'force', 'subagent', 'redact', 'emails'],
  },
  search: {
    summary: 'search the text of archives',
    about:
      'All words must occur in the same prompt, answer, command or result. "a phrase" matches its words in this ' +
      'order, ' +
      'and word* matches the beginning of a word. - reads the query from standard input.',
    least: 1,
    most: 100,
    options: ['session', 'project', 'limit'],
  },
  verify: {
    summary: 'check that archives are complete and undamaged',
    about: 'Exits with 1 if anything is wrong.',
    least: 0,
    most: 1,
    options: [],
  },
  adopt: {
    summary: 'add archives on the disk that the store does not know',
    about:
      'For use after the store was lost. Verifies the archives and makes them searchable. ' +
      'Files that cannot be used are listed, and the exit code is then 1.',
    least: 0,
    most: 0,
    options: ['dry-run'],
  },
  prune: {
    summary: 'delete old archives',
    about: 'Without --older-than and --max-size, archive.keep_days and archive.keep_bytes of the configuration apply.',
    least: 0,
    most: 0,
    options: ['older-than', 'max-size', 'dry-run'],
  },
  forget: {
    summary: 'delete all text stored of a session or a project, or one archive',
    about: 'For a session or a project, quotes in loss reports, summaries, briefs and messages are deleted too.',
    least: 0,
    most: 1,
    options: ['project', 'dry-run'],
  },
  keep: { summary: 'archive the transcript of a session now', least: 0, most: 1, options: [] },
  finish: { summary: 'finish the archives that hooks planned', least: 0, most: 0, options: [] },
}

export const archiveCommand: Command = {
  name: 'archive',
  summary: 'list, search, restore and delete archived transcripts',
  usage: [
    'list [--session ID] [--project DIR]',
    'show <id>',
    'restore <id> --to FILE [--force] [--subagent NAME]',
    'export <id> --to FILE [--redact [--emails]] [--force] [--subagent NAME]',
    'search <query|-> [--session ID] [--project DIR] [--limit N]',
    'verify [id]',
    'adopt [--dry-run]',
    'prune [--older-than D] [--max-size S] [--dry-run]',
    'forget <session|id> [--dry-run]',
    'forget --project DIR [--dry-run]',
    'keep [session]',
    'finish',
  ],
  about:
    'Baton archives a transcript before each compaction, at a handoff and at the end of a session, byte for byte. ' +
    'Archives are compressed conversation text that only you can read. Four characters of an id are enough.\n' +
    'Every action first finishes the archives that hooks planned; search spends at most 5 s on it.',
  options,
  actions: ACTIONS,
  forms: FORMS,
  words: { min: 1, max: 101 },
  examples: [
    ['baton archive list', 'list all archives'],
    ['baton archive show arc_3f2a', 'show where an archive comes from'],
    ['baton archive search \'"rate limit" retry*\'', 'search for a phrase and the beginning of a word'],
    ['baton archive restore arc_3f2a --to session.jsonl', 'write the transcript as it was'],
    ['baton archive export arc_3f2a --to share.jsonl --redact', 'write it without likely secrets'],
    ['baton archive verify', 'check all archives'],
    ['baton archive adopt', 'add archives after the store was lost'],
    ['baton archive prune --older-than 90d --dry-run', 'show what would be deleted'],
    ['baton archive forget --project ~/secret-work', 'delete all text stored of a project'],
    ['baton archive keep d76d6c4d', 'archive a session now'],
    ['baton archive finish', 'wait until all archives are searchable'],
  ],
  json:
    'list: {archives: [{archive_id, session_id, project, trigger, created_at, bytes, stored_bytes, sha256, path, ' +
    'status, reason, …}], total_bytes, …}; show, keep: an archive; restore, export: {archive_id, path, bytes, …}; ' +
    'search: {hits: [{archive_id, line, kind, text, snippet, …}], unreadable, unread: [{session_id, archive_id, ' +
    'bytes}]}; ' +
    'verify: {ok, archives: [{archive_id, state, reason}], not_in_store, unusable, extra, not_kept}; ' +
    'adopt: {dry_run, changed, archives, skipped: [{path, reason}]}; ' +
    'prune, forget: {dry_run, archives, freed_bytes, left_bytes, …}; finish: {archives, pruned, freed_bytes}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const action = call.words[0] as Action
  checkActionForm(archiveCommand, call, action, FORMS[action])
  if (call.flag('emails') && !call.flag('redact'))
    throw usageError(archiveCommand, '--emails has no effect without --redact.', 'Add --redact.')
  switch (action) {
    case 'list':
      return listArchivesCommand(call, cli)
    case 'show':
      return showArchiveCommand(call, cli)
    case 'restore':
    case 'export':
      return (await import('./archive-change.js')).restoreOrExportCommand(call, cli, action)
    case 'search':
      return (await import('./archive-search.js')).searchArchivesCommand(call, cli)
    case 'verify':
      return verifyArchivesCommand(call, cli)
    case 'adopt':
      return (await import('./archive-change.js')).adoptArchivesCommand(call, cli)
    case 'prune':
      return (await import('./archive-change.js')).pruneArchivesCommand(call, cli)
    case 'forget':
      return (await import('./archive-change.js')).forgetSessionsCommand(call, cli)
    case 'keep':
      return (await import('./archive-change.js')).createArchiveCommand(call, cli)
    case 'finish':
      return (await import('./archive-change.js')).finishArchivesCommand(call, cli)
  }
}

export async function listArchivesCommand(call: Call, cli: Cli): Promise<number> {
  return withArchivesOpen(call, cli, ({ app, archives }) => {
    const wanted = archiveFilterOf(call, cli, app)
    const records = app.store.archives()
    const shown = archives.view(wanted ? records.filter(wanted) : records).reverse()
    const sizes = archives.sizes()
    const limits = cleanupLimits(records)
    if (call.json) {
      const limited = limits.map(({ days, setBy }) => ({ days, set_by: setBy }))
      cli.print(
        JSON.stringify({
          archives: shown,
          total_bytes: sizes.bytes,
          index_bytes: sizes.indexBytes,
          cleanup_limits: limited,
        }),
      )
      return EXIT.done
    }
    if (shown.length === 0) {
      cli.print(wrap(noArchives(records.length), cli.screen.columns, 0).join('\n'))
      return EXIT.done
    }
    const { columns, paint } = cli.screen
    cli.print(archiveTable(shown, cli).join('\n'))
    const troubles = shown.filter(({ reason }) => reason !== null)
    for (const { archive_id: id, reason } of troubles)
      cli.print(wrap(paint(replaceControls(`${id}: ${reason}`), 'yellow'), columns, 2).join('\n'))
    const all = `${wanted ? 'all ' : ''}${formatCount(sizes.archives, 'archive')}`
    const total = `${all}: ${bytesText(sizes.bytes)} on disk, search index ${bytesText(sizes.indexBytes)}`
    cli.print(wrap(paint(total, 'dim'), columns, 0).join('\n'))
    for (const { days, setBy } of limits)
      cli.print(wrap(paint(limitText(days, displayPath(setBy!, cli.env.HOME)), 'dim'), columns, 0).join('\n'))
    return EXIT.done
  })
}

/** Explains an empty list. `all` counts the archives without the filter. */
function noArchives(all: number): string {
  return all > 0
    ? 'No archive matches. baton archive list without options lists all.'
    : 'No archives yet. Baton archives a transcript before it is compacted; baton archive keep <session> does it now.'
}

/** Explains that the client's cleanup period also limits archives. */
function limitText(days: number, setBy: string): string {
  return (
    `cleanupPeriodDays in ${setBy} also limits archives: they are deleted ${formatCount(days, 'day')} after ` +
    'the last write to the transcript'
  )
}

export function archiveTable(archives: readonly Archive[], cli: Cli): string[] {
  const { screen, env } = cli
  const created: Column<Archive> = screen.terminal
    ? { title: 'AGE', dropAt: 4, align: 'right', cell: (a) => ageText(a.created_at, cli.now()) }
    : { title: 'CREATED', dropAt: 4, cell: (a) => localTimestamp(a.created_at) }
  const columns: Column<Archive>[] = [
    { title: 'ARCHIVE', dropAt: 0, cell: (a) => a.archive_id },
    created,
    { title: 'SESSION', dropAt: 2, cell: (a) => replaceControls(a.session_id.slice(0, 8)) },
    ...(archives.some(({ title }) => title !== null)
      ? [{ title: 'TITLE', dropAt: 4, shrinkTo: 14, cell: (a: Archive) => replaceControls(a.title ?? '–') }]
      : []),
    { title: 'PROJECT', dropAt: 5, shrinkTo: 12, cutFrom: 'start', cell: (a) => projectName(a.project, env.HOME) },
    { title: 'TRIGGER', dropAt: 3, cell: (a) => archiveTriggerText(a.trigger) },
    { title: 'SIZE', dropAt: 1, align: 'right', cell: (a) => (a.status === 'failed' ? '–' : bytesText(a.bytes)) },
    {
      title: 'STORED',
      dropAt: 6,
      align: 'right',
      cell: (a) => (a.status === 'kept' ? bytesText(a.stored_bytes) : '–'),
    },
    {
      title: 'STATUS',
      dropAt: 0,
      cell: (a) => screen.paint(a.status, a.status === 'failed' ? 'red' : a.status === 'kept' ? 'green' : 'yellow'),
    },
  ]
  return table(archives, columns, screen.columns, screen.paint)
}

const NAME_WIDTH = 12

export async function showArchiveCommand(call: Call, cli: Cli): Promise<number> {
  return withArchivesOpen(call, cli, ({ archives }) => {
    const record = archives.find(call.words[1]!)
    const archive = archives.view([record])[0]!
    const segments = record.parts.flatMap(({ streamId, bytes }) =>
      archives.segments(streamId).filter(({ from }) => from < bytes),
    )
    const files = segments.map(({ file }) => file)
    if (call.json) cli.print(JSON.stringify({ ...archive, transcript_path: record.parts[0]?.path ?? null, files }))
    else cli.print(page(record, archive, segments, archives.places.folder, cli).join('\n'))
    return EXIT.done
  })
}

function page(
  record: ArchiveRecord,
  archive: Archive,
  segments: readonly SegmentRecord[],
  folder: string,
  cli: Cli,
): string[] {
  const { paint, columns } = cli.screen
  const facts: [string, string | null][] = [
    ['session', archive.session_id],
    ['project', archive.project === null ? null : displayPath(archive.project, cli.env.HOME)],
    ['title', archive.title],
    ['created', `${localTimestamp(archive.created_at)}, ${archiveTriggerText(archive.trigger)}`],
    ['transcript', record.parts[0]?.path ? displayPath(record.parts[0].path, cli.env.HOME) : null],
    ['size', archive.status === 'failed' ? null : `${bytesText(archive.bytes)} (${archive.bytes} bytes)`],
    ['stored', archive.status === 'kept' ? storedText(archive.stored_bytes, segments) : null],
    ['sha256', archive.sha256],
    ['searchable', archive.status === 'kept' ? (archive.indexed ? 'yes' : 'not yet') : null],
    ['reason', archive.reason],
    ['retry', record.status === 'failed' && record.retryAt !== null ? `after ${localTimestamp(record.retryAt)}` : null],
    ...archive.subagents.map(({ name, bytes, trouble }): [string, string] => [
      'subagent',
      `${name}  ${trouble ?? bytesText(bytes)}`,
    ]),
    ...segments.map(({ file }): [string, string] => ['file', displayPath(join(folder, file), cli.env.HOME)]),
  ]
  return [
    `${paint(archive.archive_id, 'bold')}  ${archive.status}`,
    ...facts.flatMap(([name, value]) =>
      value === null ? [] : factLines(name, replaceControls(value), columns - 2).map((line) => `  ${line}`),
    ),
  ]
}

function storedText(own: number, segments: readonly SegmentRecord[]): string {
  const all = segments.reduce((sum, { storedBytes }) => sum + storedBytes, 0)
  if (own === all) return bytesText(own)
  return `${own === 0 ? 'nothing' : bytesText(own)} more than older archives of it, ${bytesText(all)} with them`
}

/**
 * Renders a name and its value.
 * A value without spaces, such as a path, is broken at the line's end.
 */
function factLines(name: string, value: string, width: number): string[] {
  const room = Math.max(10, width - NAME_WIDTH)
  const pieces = (word: string): string => word.match(new RegExp(`.{1,${room}}`, 'gu'))!.join(' ')
  const text =
    room === Number.POSITIVE_INFINITY
      ? value
      : value.replace(/\S+/g, (word) => (word.length > room ? pieces(word) : word))
  return wrap(padEnd(name, NAME_WIDTH) + text, width, NAME_WIDTH)
}

/**
 * Verifies all archives. Exits with 1 when one is damaged.
 * Archives that were never written are reported only.
 */
export async function verifyArchivesCommand(call: Call, cli: Cli): Promise<number> {
  return withArchivesOpen(call, cli, ({ app, archives, progress }) => {
    const id = call.words[1]
    const records = id === undefined ? app.store.archives() : [archives.find(id)]
    const found = archives.verify(records, (bytes) => progress.add('checking:', bytes))
    const all = id === undefined
    const unadopted = all
      ? archives.adopt({ dryRun: true, progress: (_what, bytes) => progress.add('checking:', bytes) })
      : { adopted: [], skipped: [] }
    progress.end()
    const { folder } = archives.places
    const extra = all ? found.extra.map((file) => join(folder, file)) : []
    const wrong = found.archives.filter(({ state }) => state !== 'whole')
    const unkept = records.filter(({ status }) => status !== 'kept')
    const troubles = [wrong, extra, unadopted.adopted, unadopted.skipped]
    const ok = troubles.every(({ length }) => length === 0)
    if (call.json) {
      cli.print(
        JSON.stringify({
          ok,
          archives: found.archives.map(({ archiveId, state, reason }) => ({
            archive_id: archiveId,
            state,
            reason: reason === '' ? null : reason,
          })),
          not_in_store: unadopted.adopted.map(({ archiveId, sessionId, createdAt }) => ({
            archive_id: archiveId,
            session_id: sessionId,
            created_at: createdAt,
          })),
          unusable: unadopted.skipped,
          extra,
          not_kept: unkept.map(({ archiveId, status, reason }) => ({ archive_id: archiveId, status, reason })),
        }),
      )
    } else {
      const { paint, columns } = cli.screen
      const cross = paint('×', 'red')
      const lines = [
        ...wrong.map(({ archiveId, state, reason }) => `${cross} ${archiveId} ${state}: ${replaceControls(reason)}`),
        ...unadopted.skipped.map(({ path, reason }) => `${cross} ${replaceControls(path)}: ${replaceControls(reason)}`),
        ...extra.map((path) => `${cross} ${replaceControls(path)}: Baton did not create this file`),
        ...unkept.map(
          ({ archiveId, status, reason }) =>
            `${paint('–', 'yellow')} ${archiveId} ${status}${reason === null ? '' : `: ${replaceControls(reason)}`}`,
        ),
        summary(found.archives.length - wrong.length, wrong.length),
        ...advice({
          wrong: wrong.length,
          unadopted: unadopted.adopted.length,
          unusable: unadopted.skipped.length,
          extra: extra.length,
        }),
      ]
      cli.print(lines.flatMap((line) => wrap(line, columns, 2)).join('\n'))
    }
    return ok ? EXIT.done : EXIT.failed
  })
}

function summary(whole: number, wrong: number): string {
  const intact = whole === 1 ? '1 archive is intact' : `${whole} archives are intact`
  return wrong === 0 ? `${intact}.` : `${intact}, ${wrong} damaged.`
}

function advice(found: { wrong: number; unadopted: number; unusable: number; extra: number }): string[] {
  const many = (count: number): string => (count === 1 ? '1 archive is' : `${count} archives are`)
  return [
    found.unadopted === 0 ? '' : `${many(found.unadopted)} on disk but not in the store: run baton archive adopt.`,
    found.wrong === 0 ? '' : 'Restore damaged archives from a backup, or delete them: baton archive forget <id>.',
    found.unusable === 0
      ? ''
      : 'Files that cannot be used belong to no archive in the store. Restore them from a backup, or delete them.',
    found.extra === 0 ? '' : 'Files that Baton did not create are never changed. Move them to another folder.',
  ].filter((line) => line !== '')
}
