import { join } from 'node:path'
import { cleanupLimits } from '../../app/archives.js'
import type { Archive, ArchiveRecord, SegmentRecord } from '../../contract/records/archive.js'
import { EXIT } from '../../lib/errors.js'
import { replaceControls, shortenHome } from '../../lib/shown-text.js'
import { archiveTriggerText } from '../../policy/archive-trigger-text.js'
import type { Call, Cli, Command, Option } from '../command.js'
import { inArchives } from '../open-archives.js'
import { checkForm, wrong } from '../parse-call.js'
import { type Column, table } from '../render/table.js'
import { age, bytesText, padEnd, projectName, stamp, wrap } from '../render/text.js'
import { among } from './archive-search.js'

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
  force: { type: 'boolean', about: 'restore, export: replace the file if it is there' },
  redact: {
    type: 'boolean',
    about: 'export: remove what looks like a key, a token, a password, and what archive.redact says',
  },
  emails: { type: 'boolean', about: 'export --redact: remove e-mail addresses too' },
  subagent: { type: 'string', value: 'NAME', about: 'restore, export: the transcript of this subagent' },
  session: { type: 'string', value: 'ID', about: 'list, search: only this session, or all of a seat' },
  project: { type: 'string', value: 'DIR', about: 'list, search, forget: only the project of this folder' },
  limit: { type: 'string', value: 'N', about: 'search: so many hits (20)' },
  'older-than': { type: 'string', value: 'D', about: 'prune: what is older than 12h, 30d, 8w, or a date' },
  'max-size': { type: 'string', value: 'S', about: 'prune: until all together take at most 10GB, 500MB, 2GiB' },
  'dry-run': { type: 'boolean', about: 'adopt, prune, forget: only say what would be done' },
} satisfies Record<string, Option>

/** The number of arguments and the options of each action. */
const FORMS: Record<Action, { least: number; most: number; options: (keyof typeof options)[] }> = {
  list: { least: 0, most: 0, options: ['session', 'project'] },
  show: { least: 1, most: 1, options: [] },
  restore: { least: 1, most: 1, options: ['to', 'force', 'subagent'] },
  export: { least: 1, most: 1, options: ['to', 'force', 'subagent', 'redact', 'emails'] },
  search: { least: 1, most: 100, options: ['session', 'project', 'limit'] },
  verify: { least: 0, most: 1, options: [] },
  adopt: { least: 0, most: 0, options: ['dry-run'] },
  prune: { least: 0, most: 0, options: ['older-than', 'max-size', 'dry-run'] },
  forget: { least: 0, most: 1, options: ['project', 'dry-run'] },
  keep: { least: 0, most: 1, options: [] },
  finish: { least: 0, most: 0, options: [] },
}

export const command: Command = {
  name: 'archive',
  summary: 'list, search, restore and remove kept transcripts',
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
    'A transcript is kept before it is compacted: what stood in it at that moment, byte for byte. Archives are plain conversation, compressed, ' +
    'readable by you alone. An id may be shortened to four characters. search finds words that all stand in one prompt, answer, command ' +
    'or result; "a phrase" stands together, and a star ends the beginning of a word; - reads the query from standard input. prune without options does what the configuration says ' +
    '(archive.keep_days, archive.keep_bytes). verify ends with 1 when anything is wrong. adopt takes archives on the disk that the store does not know, as after a lost store, back into it: it proves their bytes, makes them searchable, names what it has to skip and then ends with 1. forget takes a session (or all of a project) with every word quoted of it, or a single archive by its id. keep keeps what a session has said so far. finish keeps at once what hooks only planned; every ' +
    'other action does that first, search for at most 5 s.',
  options,
  actions: ACTIONS,
  words: { min: 1, max: 101 },
  examples: [
    ['baton archive list', 'what is kept'],
    ['baton archive search \'"rate limit" retry*\'', 'a phrase and the beginning of a word'],
    ['baton archive restore arc_3f2a --to session.jsonl', 'the transcript as it was'],
    ['baton archive export arc_3f2a --to give-away.jsonl --redact', 'without what looks like a secret'],
    ['baton archive adopt', 'take archives back after the store was lost'],
    ['baton archive prune --older-than 90d --dry-run', 'what would go'],
    ['baton archive forget --project ~/secret-work', 'remove everything kept of a project'],
  ],
  json:
    'list: {archives: [{archive_id, session_id, project, trigger, created_at, bytes, stored_bytes, sha256, path, status, reason, …}], total_bytes, …}; ' +
    'search: {hits: [{archive_id, line, kind, text, snippet, …}], unreadable, unread: [{session_id, archive_id, bytes}]}; verify: {ok, archives: [{archive_id, state, reason}], not_in_store, unusable, extra, not_kept}; ' +
    'adopt: {dry_run, changed, archives, skipped: [{path, reason}]}; ' +
    'prune, forget: {dry_run, archives, freed_bytes, left_bytes, …}; restore, export: {archive_id, path, bytes, …}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const action = call.words[0] as Action
  checkForm(command, call, action, FORMS[action])
  if (call.flag('emails') && !call.flag('redact')) throw wrong(command, '--emails needs --redact.')
  switch (action) {
    case 'list':
      return list(call, cli)
    case 'show':
      return show(call, cli)
    case 'restore':
    case 'export':
      return (await import('./archive-change.js')).takeOut(call, cli, action)
    case 'search':
      return (await import('./archive-search.js')).search(call, cli)
    case 'verify':
      return verify(call, cli)
    case 'adopt':
      return (await import('./archive-change.js')).adopt(call, cli)
    case 'prune':
      return (await import('./archive-change.js')).prune(call, cli)
    case 'forget':
      return (await import('./archive-change.js')).forget(call, cli)
    case 'keep':
      return (await import('./archive-change.js')).keep(call, cli)
    case 'finish':
      return (await import('./archive-change.js')).finish(call, cli)
  }
}

export async function list(call: Call, cli: Cli): Promise<number> {
  return inArchives(call, cli, ({ app, archives }) => {
    const wanted = among(call, cli, app)
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
      const none =
        'No archives. A transcript is kept before it is compacted; baton archive keep <session> keeps one now.'
      cli.print(wrap(none, cli.screen.columns, 0).join('\n'))
      return EXIT.done
    }
    const { columns, paint } = cli.screen
    cli.print(archiveTable(shown, cli).join('\n'))
    const troubles = shown.filter(({ reason }) => reason !== null)
    for (const { archive_id: id, reason } of troubles)
      cli.print(wrap(paint(replaceControls(`${id}: ${reason}`), 'yellow'), columns, 2).join('\n'))
    const all = wanted ? ' all' : ''
    const total = `${bytesText(sizes.bytes)} on the disk for${all} ${sizes.archives}, ${bytesText(sizes.indexBytes)} for searching them`
    cli.print(wrap(paint(total, 'dim'), columns, 0).join('\n'))
    for (const { days, setBy } of limits)
      cli.print(wrap(paint(limitText(days, shortenHome(setBy!, cli.env.HOME)), 'dim'), columns, 0).join('\n'))
    return EXIT.done
  })
}

/** Text shown with every list of archives that the client's cleanup period limits. */
function limitText(days: number, setBy: string): string {
  return `cleanupPeriodDays in ${setBy} limits archives too: they are removed ${days} days after the transcript was last written`
}

export function archiveTable(archives: readonly Archive[], cli: Cli): string[] {
  const { screen, env } = cli
  const created: Column<Archive> = screen.terminal
    ? { title: 'AGE', dropAt: 4, align: 'right', cell: (a) => age(a.created_at, cli.now()) }
    : { title: 'CREATED', dropAt: 4, cell: (a) => stamp(a.created_at) }
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

export async function show(call: Call, cli: Cli): Promise<number> {
  return inArchives(call, cli, ({ archives }) => {
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
    ['project', archive.project === null ? null : shortenHome(archive.project, cli.env.HOME)],
    ['title', archive.title],
    ['created', `${stamp(archive.created_at)}, ${archiveTriggerText(archive.trigger)}`],
    ['transcript', record.parts[0]?.path ? shortenHome(record.parts[0].path, cli.env.HOME) : null],
    ['size', archive.status === 'failed' ? null : `${bytesText(archive.bytes)} (${archive.bytes} bytes)`],
    ['stored', archive.status === 'kept' ? storedText(archive.stored_bytes, segments) : null],
    ['sha256', archive.sha256],
    ['searchable', archive.status === 'kept' ? (archive.indexed ? 'yes' : 'not yet') : null],
    ['reason', archive.reason],
    [
      'again',
      record.status === 'failed' && record.retryAt !== null ? `tried again after ${stamp(record.retryAt)}` : null,
    ],
    ...archive.subagents.map(({ name, bytes, trouble }): [string, string] => [
      'subagent',
      `${name}  ${trouble ?? bytesText(bytes)}`,
    ]),
    ...segments.map(({ file }): [string, string] => ['file', shortenHome(join(folder, file), cli.env.HOME)]),
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
  return `${own === 0 ? 'nothing' : bytesText(own)} beyond older archives of it, ${bytesText(all)} with them`
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
export async function verify(call: Call, cli: Cli): Promise<number> {
  return inArchives(call, cli, ({ app, archives, progress }) => {
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
        ...extra.map((path) => `${cross} ${replaceControls(path)} was not made by Baton`),
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
  const kept = whole === 1 ? '1 archive is whole' : `${whole} archives are whole`
  return wrong === 0 ? `${kept}.` : `${kept}, ${wrong} not.`
}

function advice(found: { wrong: number; unadopted: number; unusable: number; extra: number }): string[] {
  const many = (count: number): string => (count === 1 ? '1 archive is' : `${count} archives are`)
  return [
    found.unadopted === 0 ? '' : `${many(found.unadopted)} on disk but not in the store: run baton archive adopt.`,
    found.wrong === 0 ? '' : 'What is damaged can be put back from a backup, or dropped: baton archive forget <id>.',
    found.unusable === 0
      ? ''
      : 'A file that cannot be used belongs to no archive in the store. Put it back from a backup.',
    found.extra === 0 ? '' : 'A file that Baton did not make is left alone. Move it to a folder of its own.',
  ].filter((line) => line !== '')
}
