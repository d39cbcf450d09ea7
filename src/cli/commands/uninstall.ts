import { existsSync, readdirSync, realpathSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { waitersFolder } from '../../agents/claude-code/waiter.js'
import { archivePlaces } from '../../archive/places.js'
import { homeFiles } from '../../install/home-files.js'
import { uninstall } from '../../install/install.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import { batonHome, type Home } from '../../lib/home.js'
import type { Call, Cli, Command } from '../command.js'
import { AGENT_NAMES } from '../launcher-for.js'
import { wrong } from '../parse-call.js'
import { changeLines } from '../render/changes.js'
import { tilde } from '../render/paths.js'
import { unitHere } from '../serving/install-unit.js'
import { runningServer } from '../serving/running-server.js'

/** Files a database brings along. */
const BESIDE = ['', '-wal', '-shm', '-journal', '.damaged']

/** Everything Baton makes in its home, by the names directly in it. Not the configuration, which a person wrote, nor the log, which may lie elsewhere. */
function ownNames({ root, config, log: _log, ...places }: Home): string[] {
  const { index, ...archive } = archivePlaces(root)
  const files = [
    ...Object.values(places),
    ...Object.values(archive),
    ...Object.values(homeFiles(root, 'any')),
    waitersFolder(places.live),
  ]
  const databases = [places.store, index].flatMap((path) => BESIDE.map((end) => path + end))
  const names = [...files, ...databases].map((path) => relative(root, path).split(sep, 1)[0]!)
  return [...new Set(names)].filter((name) => name !== '..' && join(root, name) !== config)
}

export const command: Command = {
  name: 'uninstall',
  summary: "take Baton out of the agent's settings",
  usage: ['[--agent claude-code] [--scope user|project] [--purge] [--dry-run]'],
  about:
    'Gives back the bytes that were there if nobody has written the file since; otherwise exactly the entries of Baton go. ' +
    'What was measured stays, unless --purge is given. Your configuration file always stays.',
  options: {
    agent: { type: 'string', value: 'NAME', oneOf: AGENT_NAMES, about: 'the agent' },
    scope: {
      type: 'string',
      value: 'SCOPE',
      oneOf: ['user', 'project'],
      about: 'only there (default: everywhere it was installed)',
    },
    purge: { type: 'boolean', about: 'also remove everything Baton has stored, archives and backups included' },
    'keep-data': { type: 'boolean', about: 'keep what was stored (the default)' },
    'dry-run': { type: 'boolean', about: 'say what would be done, and do nothing' },
  },
  words: { min: 0, max: 0 },
  examples: [
    ['baton uninstall', 'out of all settings; data stays'],
    ['baton uninstall --purge', 'and no trace is left'],
  ],
  json: '{changed, files: [{path, action, backup}], notes, purged, dry_run}',
  run,
}

function run(call: Call, cli: Cli): number {
  const home = batonHome(cli.env)
  const [purge, dryRun] = [call.flag('purge'), call.flag('dry-run')]
  const scope = call.value('scope')
  if (purge && call.flag('keep-data'))
    throw wrong(command, '--purge and --keep-data exclude each other.', 'Give one of them, or none.')
  if (purge && scope !== null) throw wrong(command, '--purge removes what every scope uses.', 'Leave --scope out.')
  const unit = unitHere(cli)
  if (purge) refuseWhileServing(home, unit !== null)
  const where = {
    home: home.root,
    env: cli.env,
    project: cli.cwd,
    dryRun,
    ...(scope === null ? {} : { scope: scope as 'user' | 'project' }),
  }
  const changes = uninstall({ ...where, ...(purge ? { purge: ownNames(home) } : {}) })
  const service =
    unit === null
      ? []
      : [`The server still starts whenever you log in (${tilde(unit, cli.env.HOME)}): baton serve remove takes that back.`]
  const done = { ...changes, notes: [...changes.notes, ...service] }
  if (purge && !dryRun) removeLog(home)
  if (call.json)
    cli.print(
      JSON.stringify({ changed: done.changed, files: done.files, notes: done.notes, purged: purge && !dryRun, dry_run: dryRun }),
    )
  else cli.print(report(done, purge, dryRun, home, cli).join('\n'))
  return EXIT.done
}

function report(
  done: { changed: boolean; files: Parameters<typeof changeLines>[0]; notes: string[] },
  purge: boolean,
  dryRun: boolean,
  home: Home,
  cli: Cli,
): string[] {
  const { paint } = cli.screen
  const root = tilde(home.root, cli.env.HOME)
  const head = !done.changed
    ? 'Baton is not installed; nothing to take out.'
    : dryRun
      ? 'This would be done (nothing was):'
      : paint('Baton is uninstalled.', 'green')
  const data = !purge
    ? existsSync(home.store)
      ? [`What was measured stays in ${root}; baton uninstall --purge removes it.`]
      : []
    : [dryRun ? `And what is stored in ${root} would be removed.` : `What was stored in ${root} is gone.`]
  const config = purge && existsSync(home.config) ? [`Your configuration ${tilde(home.config, cli.env.HOME)} was left.`] : []
  const running =
    done.changed && !dryRun
      ? ['Sessions that are open now keep their settings until they end; the hooks they call do nothing any more.']
      : []
  return [
    head,
    ...changeLines(done.files, cli.env.HOME, paint),
    ...done.notes.map((note) => `Note: ${note}`),
    ...running,
    ...data,
    ...config,
  ]
}

/** With BATON_HOME the log lies in the home; else in a folder of its own. */
function removeLog(home: Home): void {
  for (const path of [home.log, `${home.log}.1`]) rmSync(path, { force: true })
  const folder = dirname(home.log)
  if (existsSync(folder) && readdirSync(folder).length === 0) rmdirSync(realpathSync(folder))
}

function refuseWhileServing(home: Home, isService: boolean): void {
  const server = runningServer(home)
  if (!server) return
  throw new BatonError(
    `A Baton server still uses this home (process ${server.pid}, port ${server.port}).`,
    `${isService ? 'baton serve remove ends it' : 'End it first'}, then run the command again.`,
    EXIT.refused,
  )
}
