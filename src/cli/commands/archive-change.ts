import { basename, resolve } from 'node:path'
import { callingSession } from '../../agents/clients.js'
import { archiveSessionAndWait, finishAll, retainArchives } from '../../app/archives.js'
import { removeArchives, takeOutArchive } from '../../app/change-archives.js'
import { configuredPrune, eraseSessionQuotes } from '../../app/forget-sessions.js'
import { sessionNamed } from '../../app/sessions.js'
import type { Archives } from '../../archive/archive.js'
import type { ArchiveRecord } from '../../contract/records/archive.js'
import { EXIT } from '../../lib/errors.js'
import { formatCount } from '../../lib/format-count.js'
import { displayPath, replaceControls } from '../../lib/replace-controls.js'
import type { Call, Cli } from '../command.js'
import { withArchivesOpen } from '../open-archives.js'
import { usageError } from '../parse-call.js'
import { parseAge, parseSize } from '../parse-values.js'
import { bytesText, wrap } from '../render/text.js'
import { archiveTable } from './archive.js'

/**
 * Writes an archived transcript to a file: `restore` exactly as it was,
 * `export` for sharing, with secrets replaced by `--redact`.
 */
export async function restoreOrExportCommand(call: Call, cli: Cli, action: 'restore' | 'export'): Promise<number> {
  const written = call.value('to')
  if (written === null)
    throw usageError(
      { name: 'archive' },
      `baton archive ${action} needs a file to write.`,
      `Name it: baton archive ${action} ${call.words[1]} --to FILE.`,
    )
  if (written === '-')
    throw usageError(
      { name: 'archive' },
      '--to cannot be standard output, because transcripts can be very large.',
      'Give a file name. A file named - is ./-.',
    )
  if (written.endsWith('/'))
    throw usageError(
      { name: 'archive' },
      `${written} names a folder.`,
      `Name the file to write, such as ${written}transcript.jsonl.`,
    )
  const to = resolve(cli.cwd, written)
  return withArchivesOpen(call, cli, (opened) => {
    const redacting = call.flag('redact')
    const { record, part, removed } = takeOutArchive(opened, cli.env, {
      archive: call.words[1]!,
      subagent: call.value('subagent'),
      to,
      force: call.flag('force'),
      redact: redacting ? { emails: call.flag('emails') } : null,
    })
    const about = { archive_id: record.archiveId, session_id: record.sessionId, path: to, bytes: part.bytes }
    if (call.json)
      cli.print(
        JSON.stringify(
          action === 'restore' ? { ...about, sha256: part.sha256 } : { ...about, redacted: redacting, removed },
        ),
      )
    else
      cli.print(
        `${action === 'restore' ? 'Restored' : 'Exported'} ${bytesText(part.bytes)} to ` +
          `${displayPath(to, cli.env.HOME)}.` +
          (redacting ? ` ${redactionText(removed)}` : ''),
      )
    return EXIT.done
  })
}

function redactionText(removed: Record<string, number>): string {
  const list = Object.entries(removed).map(([name, count]) => `${count}× ${name}`)
  return list.length === 0
    ? 'Nothing in it looked like a secret. Read it before you share it.'
    : `Removed: ${list.join(', ')}. Read it before you share it.`
}

const PROGRESS_LABELS = { check: 'checking archives:', index: 'indexing archives:' }

/**
 * Adds archives on the disk that the store does not know to the store.
 * Exits with 1 when a file had to be skipped.
 */
export async function adoptArchivesCommand(call: Call, cli: Cli): Promise<number> {
  return withArchivesOpen(call, cli, ({ archives, progress }) => {
    const dryRun = call.flag('dry-run')
    const { adopted, skipped } = archives.adopt({
      dryRun,
      progress: (what, bytes) => progress.add(PROGRESS_LABELS[what], bytes),
    })
    progress.end()
    const sessions = new Set(adopted.map(({ sessionId }) => sessionId)).size
    if (call.json) {
      const described = dryRun
        ? adopted.map(({ archiveId, sessionId, project, trigger, createdAt, parts }) => ({
            archive_id: archiveId,
            session_id: sessionId,
            project,
            trigger,
            created_at: createdAt,
            bytes: parts[0]!.bytes,
            sha256: parts[0]!.sha256,
          }))
        : archives.view(adopted)
      cli.print(
        JSON.stringify({ dry_run: dryRun, changed: !dryRun && adopted.length > 0, archives: described, skipped }),
      )
    } else {
      const bytes = adopted.reduce((sum, { parts }) => sum + parts[0]!.bytes, 0)
      const { paint, columns } = cli.screen
      const lines = [
        ...skipped.map(
          ({ path, reason }) => `${paint('×', 'red')} ${replaceControls(path)}: ${replaceControls(reason)}`,
        ),
        summary(adopted.length, sessions, bytes, dryRun),
        ...(skipped.length === 0 ? [] : [SKIPPED]),
      ]
      cli.print(lines.flatMap((line) => wrap(line, columns, 2)).join('\n'))
    }
    return skipped.length === 0 ? EXIT.done : EXIT.failed
  })
}

const SKIPPED =
  'Files marked with × were skipped. Restore them from a backup and run baton archive adopt again, or delete them.'

function summary(archives: number, sessions: number, bytes: number, dryRun: boolean): string {
  if (archives === 0) return 'Nothing to adopt: the store knows every readable archive on the disk.'
  const what = `${formatCount(archives, 'archive')} of ${formatCount(sessions, 'session')} (${bytesText(bytes)})`
  return dryRun ? `Would add ${what} to the store.` : `Added ${what} to the store. baton archive list shows them.`
}

/** Archives a session's transcript now. */
export async function createArchiveCommand(call: Call, cli: Cli): Promise<number> {
  const id = call.words[1] ?? callingSession(cli.env)
  if (!id)
    throw usageError(
      { name: 'archive' },
      'baton archive keep needs a session.',
      'Name it: baton archive keep <session>. baton status lists the sessions.',
    )
  return withArchivesOpen(call, cli, async (opened) => {
    const session = sessionNamed(opened.app, id)
    const { archive, problem } = await archiveSessionAndWait(opened, session, () =>
      cli.note('Waiting for another process that is archiving this session …'),
    )
    if (call.json) cli.print(JSON.stringify(archive))
    if (problem !== null) throw problem
    if (!call.json)
      cli.print(
        `Archived ${bytesText(archive.bytes)} as ` +
          `${archive.archive_id}${archive.path === null ? '' : ` (${basename(archive.path)})`}.`,
      )
    return EXIT.done
  })
}

/**
 * Finishes planned archives and indexes them for search.
 * Removes archives that exceed the configured limits.
 * Runs in a background process.
 */
export async function finishArchivesCommand(call: Call, cli: Cli): Promise<number> {
  return withArchivesOpen(
    call,
    cli,
    (opened) => {
      const { archives, app } = opened
      const settled = finishAll(opened)
      const dropped = retainArchives(app, archives)
      opened.progress.end()
      const shown = settled.flatMap((record) => archives.view([record]))
      if (call.json)
        cli.print(JSON.stringify({ archives: shown, pruned: dropped.archives, freed_bytes: dropped.freedBytes }))
      else
        cli.print(
          shown.length === 0
            ? 'No archive was waiting.'
            : shown.map((one) => `${one.archive_id} ${one.status}${one.reason ? `: ${one.reason}` : ''}`).join('\n'),
        )
      return EXIT.done
    },
    { finish: false },
  )
}

/** Removes archives beyond the given limits, or else beyond the configured ones. */
export async function pruneArchivesCommand(call: Call, cli: Cli): Promise<number> {
  const [age, size] = [call.value('older-than'), call.value('max-size')]
  const retention = {
    olderThan: age === null ? null : parseAge(age, cli.now()),
    mostBytes: size === null ? null : parseSize(size),
  }
  return withArchivesOpen(call, cli, ({ app, archives }) => {
    const chosen = age === null && size === null ? configuredPrune(app, archives) : archives.chooseToDelete(retention)
    return drop(call, cli, archives, chosen, 'prune')
  })
}

/** Removes all stored data of a session or a project. */
export async function forgetSessionsCommand(call: Call, cli: Cli): Promise<number> {
  const session = call.words[1]
  const project = call.value('project')
  if ((session === undefined) === (project === null))
    throw usageError(
      { name: 'archive' },
      'baton archive forget needs either a session, an archive or --project.',
      'Give one: baton archive forget <session|id>, or baton archive forget --project DIR.',
    )
  return withArchivesOpen(
    call,
    cli,
    ({ app, archives }) => {
      if (session?.startsWith('arc_')) return drop(call, cli, archives, [archives.find(session)], 'forget')
      const named = project === null ? { session: session! } : { project: resolve(cli.cwd, project) }
      const { records, quoted, words } = eraseSessionQuotes(app, named, call.flag('dry-run'))
      return drop(call, cli, archives, records, 'forget', { quoted, words })
    },
    // Planned archives are removed too, so they need not be finished first.
    { finish: false },
  )
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
  const slow = (): void => cli.note('Removing the text from the search index. This can take a minute …')
  const { archives: shown, freed, indexFreed, shared, left, leftBytes } = removeArchives(archives, records, dry, slow)
  if (call.json) {
    cli.print(
      JSON.stringify({
        dry_run: dry,
        archives: shown,
        freed_bytes: freed,
        freed_index_bytes: indexFreed,
        left,
        left_bytes: leftBytes,
        ...(action === 'forget' ? { words: forgotten } : {}),
      }),
    )
    return EXIT.done
  }
  const quotes = 'quotes of it in loss reports, summaries, briefs and messages'
  const deleted = dry ? 'Would delete' : 'Deleted'
  if (shown.length === 0 && quoted) cli.print(`${deleted} ${quotes}. There is no archive of it.`)
  else if (shown.length === 0) cli.print('No archive exceeds the limits.')
  else {
    cli.print(archiveTable(shown, cli).join('\n'))
    const why = freed === 0 && shared ? ', because other archives of the same sessions use the same bytes' : ''
    const index = indexFreed === null ? '' : `, and ${bytesText(indexFreed)} of the search index`
    const frees = `${dry ? 'This would free' : 'This freed'} ${bytesText(freed)}${why}${index}.`
    const also = quoted ? ` ${dry ? 'Would also delete' : 'Also deleted'} ${quotes}.` : ''
    const said = `${deleted} ${formatCount(shown.length, 'archive')}. ${frees}${also}`
    cli.print(wrap(said, cli.screen.columns, 0).join('\n'))
  }
  return EXIT.done
}
