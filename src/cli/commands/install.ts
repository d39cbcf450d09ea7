import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { installers } from '../../agents/installers.js'
import { DEFAULT_AGENT } from '../../contract/agent-ids.js'
import { AGENT_NAMES, installHere, purgeSizes, uninstallHere } from '../../install/installation.js'
import type { Left } from '../../install/purge-home.js'
import { BatonError, EXIT, reasonOf } from '../../lib/errors.js'
import { batonHome, type Home } from '../../lib/home.js'
import { shortenHome } from '../../lib/shown-text.js'
import type { Call, Cli, Command } from '../command.js'
import { wrong } from '../parse-call.js'
import type { Paint } from '../render/screen.js'
import { bytesText, padEnd, wrapLines } from '../render/text.js'
import { ask, canAsk } from '../terminal.js'
import { offerImport } from './import.js'

export const installCommand: Command = {
  name: 'install',
  summary: "put Baton into the agent's settings",
  usage: [`[--agent ${AGENT_NAMES.join('|')}] [--scope user|project] [--allow-handoff] [--dry-run]`],
  about:
    'Adds hooks, a status line (yours stays beside it) and, where the client supports it, a plugin module that reports the exact compaction point. ' +
    'From then on a session that is nearly full is handed over to a fresh one, with a checked brief, at the end of its turn; ' +
    'handoff: {mode: ask} or {mode: off} in the configuration changes that. ' +
    'Nothing else in the file changes; a backup is kept, and baton uninstall restores it byte for byte. Running it again changes nothing. On a terminal it asks once whether to archive the transcripts that are already on the disk (baton import).',
  options: {
    agent: { type: 'string', value: 'NAME', oneOf: AGENT_NAMES, about: 'the agent' },
    scope: {
      type: 'string',
      value: 'SCOPE',
      oneOf: ['user', 'project'],
      about: 'your settings, or those of the project in this folder',
    },
    'allow-handoff': {
      type: 'boolean',
      about: `let the agent run baton handoff without a question (${installers[DEFAULT_AGENT]!.handoffRule})`,
    },
    'dry-run': { type: 'boolean', about: 'say what would be done, and change nothing' },
  },
  words: { min: 0, max: 0 },
  examples: [
    ['baton install', 'for you, in all projects'],
    ['baton install --scope project', 'for the project in this folder only'],
    ['baton install --allow-handoff', 'and let the agent give its brief by a command'],
    ['baton install --dry-run', 'look first'],
  ],
  json: '{changed, files: [{path, action, backup}], notes, dry_run}',
  run: runInstall,
}

async function runInstall(call: Call, cli: Cli): Promise<number> {
  const agent = call.value('agent') ?? DEFAULT_AGENT
  const scope = call.value('scope') === 'project' ? 'project' : 'user'
  const dryRun = call.flag('dry-run')
  const options = { agent, scope, dryRun, allowHandoff: call.flag('allow-handoff') } as const
  const { changed, files, notes, allows } = await installHere(cli, options)
  if (call.json) cli.print(JSON.stringify({ changed, files, notes, dry_run: dryRun }))
  else
    cli.print(
      wrapLines(
        installReport(
          changed,
          changeLines(files, cli.env.HOME, cli.screen.paint),
          notes,
          { scope, dryRun, allows },
          cli,
        ),
        cli.screen.columns,
      ).join('\n'),
    )
  if (!dryRun && !call.json) await offerSafely(call, cli)
  return EXIT.done
}

/**
 * Offers the import after an install. A store that cannot be opened does not undo the installation.
 */
async function offerSafely(call: Call, cli: Cli): Promise<void> {
  try {
    await offerImport(call, cli, canAsk(call) ? ask : null)
  } catch (error) {
    cli.note(`Transcripts on the disk could not be looked at: ${reasonOf(error)}. Run baton doctor.`)
  }
}

function installReport(
  changed: boolean,
  lines: string[],
  notes: string[],
  how: { scope: string; dryRun: boolean; allows: boolean },
  cli: Cli,
): string[] {
  const { paint } = cli.screen
  const where = how.scope === 'user' ? 'for you, in all projects' : 'for this project'
  const head = how.dryRun
    ? changed
      ? 'Dry run, nothing was changed. It would be:'
      : `Baton is installed ${where}; nothing would change.`
    : changed
      ? paint(`Baton is installed ${where}.`, 'green')
      : `Baton is already installed ${where}; nothing changed.`
  return [
    head,
    ...lines,
    ...(notes.length > 0 ? ['', ...notes.map((note) => `Note: ${note}`)] : []),
    ...(how.dryRun
      ? []
      : [
          '',
          `Next: open Claude Code in a new terminal and send a prompt; ${paint('baton status', 'bold')} shows the session.`,
          ...(how.allows
            ? []
            : [
                `Where Claude Code asks before commands, ${paint('baton install --allow-handoff', 'bold')} lets the agent hand over a brief without a question.`,
              ]),
          `${paint('baton uninstall', 'bold')} takes it all out again.`,
        ]),
  ]
}

export const uninstallCommand: Command = {
  name: 'uninstall',
  summary: "take Baton out of the agent's settings",
  usage: [`[--agent ${AGENT_NAMES.join('|')}] [--scope user|project] [--purge [--yes]] [--dry-run]`],
  about:
    'Gives back the bytes that were there if nobody has written the file since; otherwise exactly the entries of Baton go. ' +
    'What was measured stays, unless --purge is given. --purge also removes the store, archives, briefs, jobs, backups, the log and the ' +
    'service of baton serve install, and lists what stays: your configuration file, worktrees of jobs, files in the home that Baton did ' +
    'not make, and what lies behind symbolic links. On a terminal it asks once, with what is deleted and its size. It is refused while a job runs, or a server that you started.',
  options: {
    agent: { type: 'string', value: 'NAME', oneOf: AGENT_NAMES, about: 'the agent' },
    scope: {
      type: 'string',
      value: 'SCOPE',
      oneOf: ['user', 'project'],
      about: 'only there (default: everywhere it was installed)',
    },
    purge: { type: 'boolean', about: 'also remove everything Baton has stored, archives and backups included' },
    yes: { type: 'boolean', about: '--purge: do not ask' },
    'keep-data': { type: 'boolean', about: 'keep what was stored (the default)' },
    'dry-run': { type: 'boolean', about: 'say what would be done, and change nothing' },
  },
  words: { min: 0, max: 0 },
  examples: [
    ['baton uninstall', 'out of all settings; data stays'],
    ['baton uninstall --purge', 'and removes the data'],
  ],
  json: '{changed, files: [{path, action, backup}], notes, purged, left: [{path, reason}], dry_run}',
  run: runUninstall,
}

async function runUninstall(call: Call, cli: Cli): Promise<number> {
  const home = batonHome(cli.env)
  const [purge, dryRun] = [call.flag('purge'), call.flag('dry-run')]
  const scope = call.value('scope')
  if (purge && call.flag('keep-data'))
    throw wrong(uninstallCommand, '--purge and --keep-data exclude each other.', 'Give one of them, or none.')
  if (purge && scope !== null)
    throw wrong(uninstallCommand, '--purge removes what every scope uses.', 'Leave --scope out.')
  const { left, linked, installed, ...done } = await uninstallHere(cli, {
    purge,
    confirm: call.flag('yes') || !canAsk(call) ? null : () => confirmPurge(home, cli),
    dryRun,
    scope: scope as 'user' | 'project' | null,
  })
  if (call.json)
    cli.print(JSON.stringify({ ...done, purged: purge && !dryRun, ...(purge ? { left } : {}), dry_run: dryRun }))
  else {
    const lines = uninstallReport({ ...done, installed, left, linked }, purge, dryRun, home, cli)
    cli.print(wrapLines(lines, cli.screen.columns).join('\n'))
  }
  return EXIT.done
}

/** Asks the user before stored data is deleted. Throws unless the answer is yes. */
async function confirmPurge(home: Home, cli: Cli): Promise<void> {
  const stored = purgeSizes(home)
  if (stored.length === 0) return
  const all = stored.reduce((sum, { bytes }) => sum + bytes, 0)
  const root = shortenHome(home.root, cli.env.HOME)
  cli.note(
    wrapLines(
      [
        `This deletes what Baton has stored in ${root} (${bytesText(all)}), and it cannot be undone:`,
        ...stored.map(({ name, bytes }) => `  ${padEnd(bytesText(bytes), 9)} ${name}`),
      ],
      cli.screen.columns,
    ).join('\n'),
  )
  if (await ask('Delete it? [y/N] ')) return
  throw new BatonError(
    'Nothing was deleted, and Baton is still installed.',
    'baton uninstall without --purge keeps the data.',
    EXIT.refused,
  )
}

function uninstallReport(
  done: {
    installed: boolean
    files: Parameters<typeof changeLines>[0]
    notes: string[]
    left: Left[]
    linked: boolean
  },
  purge: boolean,
  dryRun: boolean,
  home: Home,
  cli: Cli,
): string[] {
  const { paint } = cli.screen
  const root = shortenHome(home.root, cli.env.HOME)
  const head = !done.installed
    ? 'Baton is not installed; nothing to take out.'
    : dryRun
      ? 'Dry run, nothing was changed. It would be:'
      : paint('Baton is uninstalled.', 'green')
  const data = !purge
    ? existsSync(home.store)
      ? [`What was measured stays in ${root}; baton uninstall --purge removes it.`]
      : []
    : done.linked
      ? [`${root} is a symbolic link: ${dryRun ? 'only the link would be removed' : 'only the link was removed'}.`]
      : [dryRun ? `And what is stored in ${root} would be removed.` : `What was stored in ${root} is gone.`]
  const left = done.left.map(({ path, reason }) => `  left ${shortenHome(path, cli.env.HOME)}: ${reason}`)
  const running =
    done.installed && !dryRun
      ? ['Sessions that are open now keep their settings until they end; the hooks they call do nothing any more.']
      : []
  return [
    head,
    ...changeLines(done.files, cli.env.HOME, paint),
    ...done.notes.map((note) => `Note: ${note}`),
    ...running,
    ...data,
    ...left,
  ]
}

interface Change {
  path: string
  action: string
  backup: string | null
}

/**
 * Lists the changes of each file.
 * Files of one folder with the same change share a line, and unchanged files are left out.
 */
function changeLines(files: readonly Change[], home: string | undefined, paint: Paint): string[] {
  const done = files.filter((file) => file.action !== 'unchanged')
  const shown: string[] = []
  const folders = new Set<string>()
  for (const file of done) {
    const root = modRoot(file.path)
    const key = `${file.action} ${root}`
    if (root !== null && folders.has(key)) continue
    if (root !== null) folders.add(key)
    const backup =
      file.backup === null
        ? []
        : [`${' '.repeat(11)}${paint(`the bytes from before: ${shortenHome(file.backup, home)}`, 'dim')}`]
    shown.push(`  ${padEnd(file.action, 9)}${shortenHome(root ?? file.path, home)}`, ...backup)
  }
  return shown
}

/** Returns the folder of a plugin module's file, which is shown in its place. */
function modRoot(path: string): string | null {
  const at = path.lastIndexOf('/skills/baton')
  return at < 0 ? null : `${dirname(`${path.slice(0, at)}/skills/x`)}/baton/`
}
