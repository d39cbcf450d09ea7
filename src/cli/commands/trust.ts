import { homedir, userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { clients } from '../../agents/clients.js'
import { findProjectFile, PROJECT_FILE } from '../../config/find-project.js'
import { type Loaded, loadConfig } from '../../config/load-config.js'
import { accept, folderOf, withdraw } from '../../config/trust.js'
import { type Demands, demandsOf } from '../../config/untrusted.js'
import type { ProjectFile } from '../../contract/policy.js'
import { realTarget } from '../../lib/atomic-file.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import { batonHome } from '../../lib/home.js'
import { ancestorsOf } from '../../lib/process-info.js'
import { environmentOf } from '../../lib/process-place.js'
import { replaceControls, shortenHome } from '../../lib/shown-text.js'
import type { Call, Cli, Command } from '../command.js'
import { cut, wrap } from '../render/text.js'
import { ask, canAsk } from '../terminal.js'

export const command: Command = {
  name: 'trust',
  summary: "accept a project's baton.yaml as it is, or take that back",
  usage: ['[--project DIR]', '--remove [--project DIR]'],
  about:
    'A baton.yaml comes with the repository, so Baton takes only its status line and new levels until you accept it: it starts no program, ' +
    'contacts no address and changes no setting. This command shows what the file would do and accepts exactly these bytes in ' +
    'exactly this folder; after any change it is untrusted again. Scripts and files that it names are not covered. ' +
    "Refused inside an agent's session (4).",
  options: {
    project: { type: 'string', value: 'DIR', about: 'the project; without it: this folder' },
    remove: { type: 'boolean', about: 'take the trust back' },
  },
  words: { min: 0, max: 0 },
  examples: [
    ['baton config explain', 'what is ignored as long as the file is not trusted'],
    ['baton trust', 'accept the baton.yaml of this project'],
    ['baton trust --project ~/shop --json', 'for a script'],
    ['baton trust --remove', 'take it back; running sessions follow at once'],
  ],
  json: '{changed, trusted, project, path, sha256, programs: [{key, command}], addresses: [{key, url}], settings: [{key, value}], note}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  return trust(call, cli)
}

const NOT_COVERED = 'Scripts and files that it names are not covered: they may change without a new question.'
const LONGEST_VALUE = 300

/** `baton trust`: accepts the project's file as it is, or takes that back. */
export function trust(call: Call, cli: Cli): number {
  refuseInAgentSession(cli)
  const folder = resolve(cli.cwd, call.value('project') ?? '.')
  return call.flag('remove') ? remove(call, cli, folder) : acceptHere(call, cli, folder)
}

/**
 * Before a job: an untrusted file that sets something is accepted with `--trust`, or by the user's
 * answer on a terminal.
 */
export async function trustBeforeRun(call: Call, cli: Cli): Promise<void> {
  const loaded = loadConfig({ home: batonHome(cli.env), project: cli.cwd, env: cli.env })
  const file = loaded.project
  // `settleOrder` refuses files with errors, and untrusted files that nobody can be asked about.
  if (file === null || file.trusted || file.ignored.length === 0 || !loaded.ok) return
  if (call.flag('trust')) refuseInAgentSession(cli)
  else if (!canAsk(call) || agentSessionAround(cli.env) !== null) return
  const acceptable = checkAcceptable(loaded)
  if (!call.flag('trust')) {
    cli.note([...summary(acceptable, demandsOf(loaded.projectValue), cli), ''].join('\n'))
    if (!(await ask('Trust this file? [y/N] '))) return
  }
  accept(batonHome(cli.env).trust, acceptable, cli.now())
}

function acceptHere(call: Call, cli: Cli, folder: string): number {
  const home = batonHome(cli.env)
  const loaded = loadConfig({ home, project: folder, env: cli.env })
  if (loaded.project === null)
    throw new BatonError(
      `There is no ${PROJECT_FILE} for ${shortenHome(folder, cli.env.HOME)}.`,
      'Name the project: baton trust --project DIR.',
      EXIT.notFound,
    )
  const file = checkAcceptable(loaded)
  const demands = demandsOf(loaded.projectValue)
  const changed = loaded.project.trusted === false
  if (changed) accept(home.trust, file, cli.now())
  if (call.json) {
    const about = { changed, trusted: true, project: file.folder, path: file.path, sha256: file.sha256 }
    cli.print(JSON.stringify({ ...about, ...demands, note: NOT_COVERED }))
    return EXIT.done
  }
  const end = changed ? 'Trusted.' : 'Trusted already.'
  cli.print(
    [
      ...summary(file, demands, cli),
      ...wrap(
        `${end} After any change of the file Baton asks again; baton trust --remove takes it back.`,
        cli.screen.columns,
        0,
      ),
    ].join('\n'),
  )
  return EXIT.done
}

function remove(call: Call, cli: Cli, folder: string): number {
  const path = findProjectFile(folder, cli.env.HOME || homedir()) ?? join(folder, PROJECT_FILE)
  // The folder may be gone; its record is not.
  const project = folderOf(path) ?? realTarget(folder)
  const changed = withdraw(batonHome(cli.env).trust, project)
  if (call.json) cli.print(JSON.stringify({ changed, trusted: false, project, path }))
  else
    cli.print(
      `${shortenHome(path, cli.env.HOME)} is ${changed ? 'no longer' : 'not'} trusted${changed ? '' : '; there was nothing to take back'}.`,
    )
  return EXIT.done
}

interface Acceptable extends ProjectFile {
  folder: string
  sha256: string
}

/**
 * Throws when this file cannot be accepted: wrong, unreadable, or another user's, who could change
 * it at any time.
 */
function checkAcceptable({ project, problems }: Loaded): Acceptable {
  const { path, folder, sha256, reason } = project!
  if (reason === 'belongs to another user')
    throw new BatonError(
      `${path} belongs to another user and cannot be trusted.`,
      'Make a copy that belongs to you, look at it, then run baton trust.',
      EXIT.refused,
    )
  const wrong = problems.find(({ file }) => file === path)
  if (wrong)
    throw new BatonError(
      `${path} has errors: ${wrong.key ? `${wrong.key}: ` : ''}${wrong.reason}.`,
      wrong.hint || 'See baton config check.',
      EXIT.usage,
      { problems },
    )
  if (folder === null || sha256 === null)
    throw new BatonError(`${path} cannot be read.`, 'Check the path and its permissions.', EXIT.failed)
  return { ...project!, folder, sha256 }
}

/** An agent that could accept a file could accept what it wrote into it. */
function refuseInAgentSession(cli: Cli): void {
  const why = agentSessionAround(cli.env)
  if (why === null) return
  throw new BatonError(
    `Trust is the user's to give, and this command runs inside an agent's session (${why}).`,
    'Run it in a terminal of your own.',
    EXIT.refused,
  )
}

/**
 * Describes what the file would do. Anybody may have written its texts, so none of them may control
 * the terminal.
 */
function summary({ path, sha256, reason }: Acceptable, demands: Demands, { screen, env }: Cli): string[] {
  const { paint, columns } = screen
  const { programs, addresses, settings } = demands
  const section = (title: string, lines: string[]): string[] =>
    lines.length === 0 ? [] : [paint(title, 'bold'), ...lines.map((line) => `  ${line}`)]
  const value = (written: unknown): string => cut(replaceControls(JSON.stringify(written)), LONGEST_VALUE)
  return [
    `${paint(replaceControls(shortenHome(path, env.HOME)), 'bold')}${reason === null ? '' : ` (${reason})`}, sha256 ${sha256}`,
    ...section(
      'Sets',
      settings.map(({ key, value: written }) => `${replaceControls(key)}: ${value(written)}`),
    ),
    ...section(
      'Contacts',
      addresses.map(({ key, url }) => `${replaceControls(key)}: ${replaceControls(url)}`),
    ),
    ...section(
      'Starts',
      programs.map(({ key, command }) => `${replaceControls(key)}: ${replaceControls(command)}`),
    ),
    ...(programs.length + addresses.length === 0 ? ['It starts no program and contacts no address by itself.'] : []),
    ...wrap(NOT_COVERED, columns, 0),
  ]
}

type Env = Record<string, string | undefined>

/** Variables that a client, or Baton for what it starts, sets for the commands of an agent. */
const SIGNS = [...Object.values(clients).flatMap(({ signs }) => signs), 'BATON_JOB_ID', 'BATON_SEAT']

/**
 * Why this process counts as run by an agent; null when it does not. An agent can unset variables
 * for one command, so the processes above are asked too: for the environment they were started
 * with, and whether the client's registry lists them.
 */
function agentSessionAround(env: Env, ancestors: readonly number[] = ancestorsOf(process.pid)): string | null {
  const own = findSign(env)
  if (own !== null) return `${own} is set`
  for (const pid of ancestors) {
    const theirs = environmentOf(pid) ?? {}
    const sign = findSign(theirs)
    if (sign !== null) return `process ${pid} above this one has ${sign}`
    const environments = [env, theirs, { HOME: ownHome() }]
    if (Object.values(clients).some((client) => client.isClient?.(pid, environments)))
      return `process ${pid} above this one is a client`
  }
  return null
}

function findSign(env: Env): string | null {
  return SIGNS.find((name) => env[name]) ?? null
}

/** As the system knows it, whatever the environment says. */
function ownHome(): string | undefined {
  try {
    return userInfo().homedir
  } catch {
    return undefined
  }
}
