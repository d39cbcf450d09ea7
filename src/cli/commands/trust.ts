import { resolve } from 'node:path'
import { type AcceptableFile, trustBeforeRun, trustProject, withdrawTrust } from '../../app/trust-project.js'
import type { FileDemands } from '../../config/untrusted.js'
import { EXIT } from '../../lib/errors.js'
import { displayPath, replaceControls } from '../../lib/replace-controls.js'
import type { Call, Cli, Command } from '../command.js'
import { cutToWidth, wrap } from '../render/text.js'
import { askYesOrNo, canAskUser } from '../terminal.js'

export const trustCommand: Command = {
  name: 'trust',
  summary: "accept a project's baton.yaml, or withdraw the trust",
  usage: ['[--project DIR]', '--remove [--project DIR]'],
  about:
    'A baton.yaml comes with the repository, so anybody may have written it. ' +
    'Until you accept it, Baton uses only its status_line and new levels: ' +
    'it starts no program, contacts no address and changes no setting.\n' +
    'The command shows what the file does, and accepts its exact content in this folder. ' +
    'After any change the file is untrusted again. Scripts and files that it names are not checked. ' +
    'An agent cannot run the command (exit code 4).',
  options: {
    project: { type: 'string', value: 'DIR', about: 'the folder of the project (default: this folder)' },
    remove: { type: 'boolean', about: 'withdraw the trust' },
  },
  words: { min: 0, max: 0 },
  examples: [
    ['baton config explain', 'show what is ignored until then'],
    ['baton trust', 'accept the baton.yaml of this project'],
    ['baton trust --project ~/shop --json', 'accept another one in a script'],
    ['baton trust --remove', 'withdraw the trust, also for running sessions'],
  ],
  json:
    '{changed, trusted, project, path, sha256, programs: [{key, command}], addresses: [{key, url}], ' +
    'settings: [{key, value}], note}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const folder = resolve(cli.cwd, call.value('project') ?? '.')
  return call.flag('remove') ? remove(call, cli, folder) : acceptHere(call, cli, folder)
}

const NOT_COVERED = 'Scripts and files that it names are not checked: they can change without another question.'
const LONGEST_VALUE = 300

/**
 * Accepts an untrusted project file before a job by `--trust`.
 * Without `--trust`, asks the user on a terminal whether to accept the file.
 */
export async function offerTrust(call: Call, cli: Cli): Promise<void> {
  const confirm = (file: AcceptableFile, demands: FileDemands): Promise<boolean> => {
    cli.note([...summary(file, demands, cli), ''].join('\n'))
    return askYesOrNo('Trust this file? [y/N] ')
  }
  await trustBeforeRun(cli, call.flag('trust'), canAskUser(call) ? confirm : null)
}

function acceptHere(call: Call, cli: Cli, folder: string): number {
  const { file, demands, changed } = trustProject(cli, folder)
  if (call.json) {
    const about = { changed, trusted: true, project: file.folder, path: file.path, sha256: file.sha256 }
    cli.print(JSON.stringify({ ...about, ...demands, note: NOT_COVERED }))
    return EXIT.done
  }
  const end = changed ? 'The file is trusted now.' : 'The file was already trusted.'
  cli.print(
    [
      ...summary(file, demands, cli),
      ...wrap(
        `${end} After any change, run baton trust again. To withdraw the trust: baton trust --remove.`,
        cli.screen.columns,
        0,
      ),
    ].join('\n'),
  )
  return EXIT.done
}

function remove(call: Call, cli: Cli, folder: string): number {
  const { changed, project, path } = withdrawTrust(cli, folder)
  if (call.json) cli.print(JSON.stringify({ changed, trusted: false, project, path }))
  else cli.print(`${displayPath(path, cli.env.HOME)} ${changed ? 'is no longer trusted' : 'was not trusted'}.`)
  return EXIT.done
}

/**
 * Describes what the file would do.
 * The file's texts may come from anybody, so terminal sequences are removed.
 */
function summary({ path, sha256, reason }: AcceptableFile, demands: FileDemands, { screen, env }: Cli): string[] {
  const { paint, columns } = screen
  const { programs, addresses, settings } = demands
  const section = (title: string, lines: string[]): string[] =>
    lines.length === 0 ? [] : [paint(title, 'bold'), ...lines.map((line) => `  ${line}`)]
  const file = `${paint(replaceControls(displayPath(path, env.HOME)), 'bold')}${reason === null ? '' : ` (${reason})`}`
  const value = (written: unknown): string => cutToWidth(replaceControls(JSON.stringify(written)), LONGEST_VALUE)
  return [
    `${file}, sha256 ${sha256}`,
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
    ...(programs.length + addresses.length === 0 ? ['It starts no program and contacts no address.'] : []),
    ...wrap(NOT_COVERED, columns, 0),
  ]
}
