import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { agentInstallers } from '../../agents/installers.js'
import { DEFAULT_AGENT } from '../../contract/agent-ids.js'
import { AGENT_NAMES, installHere, purgeSizes, uninstallHere } from '../../install/installation.js'
import type { NotPurged } from '../../install/purge-home.js'
import { BatonError, EXIT, reasonOf } from '../../lib/errors.js'
import { batonHome, type Home } from '../../lib/home.js'
import { displayPath } from '../../lib/replace-controls.js'
import type { Call, Cli, Command } from '../command.js'
import { usageError } from '../parse-call.js'
import type { Paint } from '../render/screen.js'
import { bytesText, padEnd, wrapLines } from '../render/text.js'
import { askYesOrNo, canAskUser } from '../terminal.js'
import { offerImport } from './import.js'

export const installCommand: Command = {
  name: 'install',
  summary: "add Baton to the agent's settings",
  usage: [`[--agent ${AGENT_NAMES.join('|')}] [--scope user|project] [--allow-handoff] [--dry-run]`],
  about:
    'Adds hooks, a status line (yours is still shown) and, if the client supports it, ' +
    'a plugin module that reports the exact compaction point.\n' +
    'From then on, a session whose context is nearly full hands off to a fresh one at the end of its turn, ' +
    'with a brief that Baton has checked. baton config set handoff.mode ask (or off) changes that.\n' +
    'Nothing else in the settings changes, and baton uninstall restores them byte for byte. ' +
    'On a terminal the command asks once whether to archive existing transcripts (see baton import).',
  options: {
    agent: { type: 'string', value: 'NAME', oneOf: AGENT_NAMES, about: 'the agent whose settings change' },
    scope: {
      type: 'string',
      value: 'SCOPE',
      oneOf: ['user', 'project'],
      about: 'your settings, or those of the project in this folder (default: user)',
    },
    'allow-handoff': {
      type: 'boolean',
      about: `let the agent run baton handoff without asking you (${agentInstallers[DEFAULT_AGENT]!.handoffRule})`,
    },
    'dry-run': { type: 'boolean', about: 'say what would be done, and change nothing' },
  },
  words: { min: 0, max: 0 },
  examples: [
    ['baton install', 'install for all your projects'],
    ['baton install --scope project', 'install for the project in this folder'],
    ['baton install --allow-handoff', 'also let the agent submit briefs'],
    ['baton install --dry-run', 'show the changes first'],
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
    await offerImport(call, cli, canAskUser(call) ? askYesOrNo : null)
  } catch (error) {
    cli.note(`Existing transcripts could not be read: ${reasonOf(error)}. Run baton doctor.`)
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
  const where = how.scope === 'user' ? 'for all your projects' : 'for this project'
  const head = how.dryRun
    ? changed
      ? 'Dry run: nothing was changed. baton install would change:'
      : `Baton is already installed ${where}. Nothing would change.`
    : changed
      ? paint(`Baton is installed ${where}.`, 'green')
      : `Baton is already installed ${where}. Nothing changed.`
  return [
    head,
    ...lines,
    ...(notes.length > 0 ? ['', ...notes.map((note) => `Note: ${note}`)] : []),
    ...(how.dryRun
      ? []
      : [
          '',
          `Next: open Claude Code in a new terminal and send a prompt. ${paint('baton status', 'bold')} then shows ` +
            'the session.',
          ...(how.allows
            ? []
            : [
                `If Claude Code asks you before commands: ${paint('baton install --allow-handoff', 'bold')} lets ` +
                  'the agent submit briefs without asking.',
              ]),
          `To undo: ${paint('baton uninstall', 'bold')}.`,
        ]),
  ]
}

export const uninstallCommand: Command = {
  name: 'uninstall',
  summary: "remove Baton from the agent's settings",
  usage: [`[--agent ${AGENT_NAMES.join('|')}] [--scope user|project] [--purge [--yes]] [--dry-run]`],
  about:
    'Restores the settings byte for byte. If they were changed after the installation, only the entries of Baton ' +
    'are removed. ' +
    'Stored data stays.\n' +
    '--purge also deletes the store, archives, briefs, jobs, backups, the log and the service of baton serve ' +
    'install. ' +
    'It keeps your configuration file, worktrees of jobs, files that Baton did not create, and the targets of ' +
    'symbolic links, ' +
    'and lists them. On a terminal it first asks, with the sizes. It is refused while a job or a server runs.',
  options: {
    agent: { type: 'string', value: 'NAME', oneOf: AGENT_NAMES, about: 'the agent' },
    scope: {
      type: 'string',
      value: 'SCOPE',
      oneOf: ['user', 'project'],
      about: 'only these settings (default: everywhere Baton is installed)',
    },
    purge: { type: 'boolean', about: 'also delete everything that Baton stored, including archives and backups' },
    yes: { type: 'boolean', about: 'with --purge: do not ask' },
    'keep-data': { type: 'boolean', about: 'keep stored data (the default)' },
    'dry-run': { type: 'boolean', about: 'say what would be done, and change nothing' },
  },
  words: { min: 0, max: 0 },
  examples: [
    ['baton uninstall', 'remove Baton, keep the stored data'],
    ['baton uninstall --purge', 'remove Baton and delete the stored data'],
  ],
  json: '{changed, files: [{path, action, backup}], notes, purged, left: [{path, reason}], dry_run}',
  run: runUninstall,
}

async function runUninstall(call: Call, cli: Cli): Promise<number> {
  const home = batonHome(cli.env)
  const [purge, dryRun] = [call.flag('purge'), call.flag('dry-run')]
  const scope = call.value('scope')
  if (purge && call.flag('keep-data'))
    throw usageError(uninstallCommand, '--purge and --keep-data exclude each other.', 'Give one of them, or none.')
  if (purge && scope !== null)
    throw usageError(
      uninstallCommand,
      '--purge does not work with --scope, because both scopes use the stored data.',
      'Leave --scope out.',
    )
  const { left, linked, installed, ...done } = await uninstallHere(cli, {
    purge,
    confirm: call.flag('yes') || !canAskUser(call) ? null : () => confirmPurge(home, cli),
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
  const root = displayPath(home.root, cli.env.HOME)
  cli.note(
    wrapLines(
      [
        `This deletes what Baton stored in ${root} (${bytesText(all)}). It cannot be undone:`,
        ...stored.map(({ name, bytes }) => `  ${padEnd(bytesText(bytes), 9)} ${name}`),
      ],
      cli.screen.columns,
    ).join('\n'),
  )
  if (await askYesOrNo('Delete it? [y/N] ')) return
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
    left: NotPurged[]
    linked: boolean
  },
  purge: boolean,
  dryRun: boolean,
  home: Home,
  cli: Cli,
): string[] {
  const { paint } = cli.screen
  const root = displayPath(home.root, cli.env.HOME)
  const head = !done.installed
    ? 'Baton is not installed. Nothing to remove.'
    : dryRun
      ? 'Dry run: nothing was changed. baton uninstall would change:'
      : paint('Baton is uninstalled.', 'green')
  const data = !purge
    ? existsSync(home.store)
      ? [`The stored data stays in ${root}. To delete it: baton uninstall --purge.`]
      : []
    : done.linked
      ? [`${root} is a symbolic link: ${dryRun ? 'only the link would be removed' : 'only the link was removed'}.`]
      : [dryRun ? `The stored data in ${root} would also be deleted.` : `Deleted the stored data in ${root}.`]
  const left = done.left.map(({ path, reason }) => `  kept ${displayPath(path, cli.env.HOME)}: ${reason}`)
  const running =
    done.installed && !dryRun
      ? ['Running sessions keep their settings until they end; their hooks do nothing any more.']
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
      file.backup === null ? [] : [`${' '.repeat(11)}${paint(`backup: ${displayPath(file.backup, home)}`, 'dim')}`]
    shown.push(`  ${padEnd(file.action, 9)}${displayPath(root ?? file.path, home)}`, ...backup)
  }
  return shown
}

/** Returns the folder of a plugin module's file, which is shown in its place. */
function modRoot(path: string): string | null {
  const at = path.lastIndexOf('/skills/baton')
  return at < 0 ? null : `${dirname(`${path.slice(0, at)}/skills/x`)}/baton/`
}
