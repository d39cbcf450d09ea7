import { existsSync, statSync } from 'node:fs'
import { resolve } from 'node:path'
import {
  hasStoredTranscripts,
  type ImportSummary,
  importOffer,
  importStoredTranscripts,
  importTranscripts,
  type SkippedCounts,
} from '../../app/import-transcripts.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import { formatCount } from '../../lib/format-count.js'
import { displayPath, replaceControls } from '../../lib/replace-controls.js'
import type { Call, Cli, Command } from '../command.js'
import { withArchivesOpen } from '../open-archives.js'
import { bytesText, wrap } from '../render/text.js'

export const importCommand: Command = {
  name: 'import',
  summary: 'archive the transcripts that are already on this disk',
  usage: ['[--from DIR] [--headless] [--dry-run]'],
  about:
    'Archives every transcript of your agents that is not archived yet. baton recall then finds its text, ' +
    'even after the client has deleted the transcript. The transcripts themselves are not changed.\n' +
    'Ctrl-C stops the import, and running it again continues.\n' +
    'It skips headless runs (claude -p), projects where archiving is off, sessions deleted with baton archive ' +
    'forget, ' +
    'and running sessions, which are archived when they end.',
  options: {
    from: { type: 'string', value: 'DIR', about: "read a copy of the agent's folder, such as a backup" },
    headless: { type: 'boolean', about: 'also import headless runs' },
    archive: { type: 'boolean', about: 'no effect: import always archives; accepted for scripts' },
    'dry-run': { type: 'boolean', about: 'only show how many transcripts and bytes' },
  },
  words: { min: 0, max: 0 },
  examples: [
    ['baton import --dry-run', 'show how many transcripts there are, and their size'],
    ['baton import', 'archive all of them'],
    ['baton import --from /mnt/backup/.claude', 'archive the transcripts of a backup'],
  ],
  json:
    '{dry_run, found, imported, bytes, stored_bytes, left, failed: [{path, reason}], ' +
    'left_out: {archived, open, headless, off, forgotten, expired}}; found: transcripts to import; ' +
    'left: transcripts not imported because it was stopped',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const from = folderOf(call.value('from'), cli)
  return withArchivesOpen(
    call,
    cli,
    async (opened) => {
      const dry = call.flag('dry-run')
      const { found, bytes, leftOut, done } = await importStoredTranscripts(opened, cli.env, {
        from,
        headless: call.flag('headless'),
        dryRun: dry,
      })
      if (call.json)
        cli.print(
          JSON.stringify({
            dry_run: dry,
            found,
            imported: done.imported,
            bytes: dry ? bytes : done.bytes,
            stored_bytes: done.storedBytes,
            left: done.left,
            failed: done.failed,
            left_out: leftOut,
          }),
        )
      else
        cli.print(
          [...(found === 0 ? [nothingText(leftOut)] : report(found, bytes, done, dry)), ...leftOutLines(leftOut)]
            .flatMap(wrapped(cli))
            .join('\n'),
        )
      for (const { path, reason } of done.failed)
        cli.note(replaceControls(`${displayPath(path, cli.env.HOME)} was not archived: ${reason}`))
      return done.failed.length > 0 || (!dry && done.left > 0) ? EXIT.failed : EXIT.done
    },
    { finish: false },
  )
}

const wrapped =
  (cli: Cli) =>
  (line: string): string[] =>
    wrap(line, cli.screen.columns, 0)

function report(found: number, bytes: number, done: ImportSummary, dry = false): string[] {
  if (dry) return [`Would import ${formatCount(found, 'transcript')} (${bytesText(bytes)}). baton import does it.`]
  const stored =
    `Imported ${formatCount(done.imported, 'transcript')} (${bytesText(done.bytes)}), stored in ` +
    `${bytesText(done.storedBytes)}.`
  if (done.left === 0) return [stored]
  return [stored, `Stopped with ${formatCount(done.left, 'transcript')} left. baton import continues.`]
}

/** Says that everything is archived only if nothing was skipped for another reason. */
function nothingText({ archived, ...others }: SkippedCounts): string {
  if (Object.values(others).some((count) => count > 0)) return 'Nothing to import now.'
  return archived > 0
    ? 'Nothing to import: every transcript is archived.'
    : 'Nothing to import: no transcripts found. --from DIR reads another folder.'
}

function leftOutLines(left: SkippedCounts): string[] {
  const parts = [
    [left.archived, 'already archived'],
    [left.open, 'still running (archived at their end)'],
    [left.headless, 'headless (--headless imports them)'],
    [left.off, 'in projects where archiving is off'],
    [left.forgotten, 'deleted with baton archive forget'],
    [left.expired, 'older than cleanupPeriodDays'],
  ] as const
  const told = parts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`)
  return told.length === 0 ? [] : [`Skipped: ${told.join(', ')}.`]
}

function folderOf(from: string | null, cli: Cli): string | null {
  if (from === null) return null
  const folder = resolve(cli.cwd, from)
  if (!existsSync(folder) || !statSync(folder).isDirectory())
    throw new BatonError(
      `There is no folder ${folder}.`,
      'Give the folder that contains the transcripts: baton import --from DIR.',
      EXIT.notFound,
    )
  return folder
}

/**
 * Offers to archive transcripts from before Baton was installed, and names their size.
 * Asks once per home. Without a terminal (`ask` is null) it only names the command.
 */
export async function offerImport(
  call: Call,
  cli: Cli,
  ask: ((question: string) => Promise<boolean>) | null,
): Promise<void> {
  // Do not create a store when there is no transcript to import.
  if (!hasStoredTranscripts(cli.env)) return
  await withArchivesOpen(
    call,
    cli,
    async (opened) => {
      const offer = importOffer(opened, cli.env)
      if (offer === null) return
      const { found, bytes } = offer
      const what = `${formatCount(found.length, 'transcript')} of earlier sessions (${bytesText(bytes)})`
      if (ask === null) {
        const line = `Run baton import to archive ${what}, because the client deletes old transcripts.`
        cli.print(wrap(line, cli.screen.columns, 0).join('\n'))
        return
      }
      offer.remember()
      if (!(await ask(`The client deletes old transcripts. Archive ${what}? [y/N] `))) {
        cli.print('Nothing was imported. baton import does it later.')
        return
      }
      cli.print(report(found.length, bytes, await importTranscripts(opened, found)).join('\n'))
    },
    { finish: false },
  )
}
