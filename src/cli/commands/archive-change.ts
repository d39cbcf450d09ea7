import { basename, resolve } from 'node:path'
import { callingSession } from '../../agents/clients.js'
import { finishAll, retainArchives } from '../../app/archives.js'
import { keepSession, removeArchives, takeOutArchive } from '../../app/change-archives.js'
import { configuredPrune, forgetWords } from '../../app/forget-sessions.js'
import type { Archives } from '../../archive/archive.js'
import type { ArchiveRecord } from '../../contract/records/archive.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import { replaceControls, shortenHome } from '../../lib/shown-text.js'
import type { Call, Cli } from '../command.js'
import { inArchives } from '../open-archives.js'
import { wrong } from '../parse-call.js'
import { parseAge, parseSize } from '../parse-values.js'
import { bytesText, wrap } from '../render/text.js'
import { archiveTable } from './archive.js'

/**
 * Writes an archived transcript to a file: `restore` exactly as it was,
 * `export` for sharing, with secrets replaced by `--redact`.
 */
export async function takeOut(call: Call, cli: Cli, action: 'restore' | 'export'): Promise<number> {
  const written = call.value('to')
  if (written === null)
    throw wrong({ name: 'archive' }, `Where to? baton archive ${action} ${call.words[1]} --to FILE.`)
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
        `${action === 'restore' ? 'Restored' : 'Exported'} ${bytesText(part.bytes)} to ${shortenHome(to, cli.env.HOME)}.${tail(redacting, removed)}`,
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

const DOING = { check: 'checking:', index: 'making them searchable:' }

/**
 * Adds archives on the disk that the store does not know to the store.
 * Exits with 1 when a file had to be skipped.
 */
export async function adopt(call: Call, cli: Cli): Promise<number> {
  return inArchives(call, cli, ({ archives, progress }) => {
    const dryRun = call.flag('dry-run')
    const { adopted, skipped } = archives.adopt({ dryRun, progress: (what, bytes) => progress.add(DOING[what], bytes) })
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
  'What is marked with × was left as it is. Put it back from a backup and run baton archive adopt again, or remove it.'

function summary(archives: number, sessions: number, bytes: number, dryRun: boolean): string {
  if (archives === 0) return 'The store knows every archive on the disk that can be read; nothing to adopt.'
  const what = `${archives === 1 ? '1 archive' : `${archives} archives`} of ${sessions === 1 ? '1 session' : `${sessions} sessions`} (${bytesText(bytes)})`
  return dryRun ? `Would take ${what} into the store.` : `Took ${what} into the store; baton archive list shows them.`
}

/** Archives a session's transcript now. */
export async function keep(call: Call, cli: Cli): Promise<number> {
  const id = call.words[1] ?? callingSession(cli.env)
  if (!id) throw wrong({ name: 'archive' }, 'Which session? baton archive keep <session>.', 'baton status lists them.')
  return inArchives(call, cli, async (opened) => {
    const { archive, retryAt } = await keepSession(opened, id, () =>
      cli.note('Another process is keeping transcripts of this session; waiting for it …'),
    )
    if (call.json) cli.print(JSON.stringify(archive))
    else if (archive.status === 'kept')
      cli.print(
        `Kept ${bytesText(archive.bytes)} as ${archive.archive_id}${archive.path === null ? '' : ` (${basename(archive.path)})`}.`,
      )
    if (archive.status === 'kept') return EXIT.done
    if (archive.status === 'pending')
      throw new BatonError(
        `${archive.archive_id} is not kept yet: another process is still working on this session’s archives.`,
        `It is kept once that one is done (baton archive show ${archive.archive_id}).`,
      )
    throw new BatonError(
      `${archive.archive_id} was not kept: ${archive.reason ?? 'for no known reason'}.`,
      retryAt === null ? 'baton doctor tells what is wrong.' : 'It is tried again later.',
    )
  })
}

/**
 * Finishes planned archives, indexes them for search,
 * and removes what exceeds the configured limits.
 * Runs in a background process.
 */
export async function finish(call: Call, cli: Cli): Promise<number> {
  return inArchives(
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
            ? 'Nothing was waiting.'
            : shown.map((one) => `${one.archive_id} ${one.status}${one.reason ? `: ${one.reason}` : ''}`).join('\n'),
        )
      return EXIT.done
    },
    { finish: false },
  )
}

/** Removes archives beyond the given limits, or else beyond the configured ones. */
export async function prune(call: Call, cli: Cli): Promise<number> {
  const [age, size] = [call.value('older-than'), call.value('max-size')]
  const retention = {
    olderThan: age === null ? null : parseAge(age, cli.now()),
    mostBytes: size === null ? null : parseSize(size),
  }
  return inArchives(call, cli, ({ app, archives }) => {
    const chosen = age === null && size === null ? configuredPrune(app, archives) : archives.chooseToDelete(retention)
    return drop(call, cli, archives, chosen, 'prune')
  })
}

/** Removes all stored data of a session or a project. */
export async function forget(call: Call, cli: Cli): Promise<number> {
  const session = call.words[1]
  const project = call.value('project')
  if ((session === undefined) === (project === null))
    throw wrong(
      { name: 'archive' },
      'Forget what? baton archive forget <session>, or baton archive forget --project DIR.',
    )
  return inArchives(
    call,
    cli,
    ({ app, archives }) => {
      if (session?.startsWith('arc_')) return drop(call, cli, archives, [archives.find(session)], 'forget')
      const named = project === null ? { session: session! } : { project: resolve(cli.cwd, project) }
      const { records, quoted, words } = forgetWords(app, named, call.flag('dry-run'))
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
  const slow = (): void => cli.note('Taking every word of it out of the index; that may take a minute …')
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
      wrap(
        quoted ? `${said} ${dry ? 'Would also forget' : 'Forgot also'} ${words}.` : said,
        cli.screen.columns,
        0,
      ).join('\n'),
    )
  }
  return EXIT.done
}
