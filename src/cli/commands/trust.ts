import { resolve } from 'node:path'
import { type AcceptableFile, trustBeforeRun, trustProject, withdrawTrust } from '../../app/trust-project.js'
import type { FileDemands } from '../../config/untrusted.js'
import { EXIT } from '../../lib/errors.js'
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
  const folder = resolve(cli.cwd, call.value('project') ?? '.')
  return call.flag('remove') ? remove(call, cli, folder) : acceptHere(call, cli, folder)
}

const NOT_COVERED = 'Scripts and files that it names are not covered: they may change without a new question.'
const LONGEST_VALUE = 300

/**
 * Accepts an untrusted project file before a job:
 * by `--trust`, or by asking the user on a terminal.
 */
export async function offerTrust(call: Call, cli: Cli): Promise<void> {
  const confirm = (file: AcceptableFile, demands: FileDemands): Promise<boolean> => {
    cli.note([...summary(file, demands, cli), ''].join('\n'))
    return ask('Trust this file? [y/N] ')
  }
  await trustBeforeRun(cli, call.flag('trust'), canAsk(call) ? confirm : null)
}

function acceptHere(call: Call, cli: Cli, folder: string): number {
  const { file, demands, changed } = trustProject(cli, folder)
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
  const { changed, project, path } = withdrawTrust(cli, folder)
  if (call.json) cli.print(JSON.stringify({ changed, trusted: false, project, path }))
  else
    cli.print(
      `${shortenHome(path, cli.env.HOME)} is ${changed ? 'no longer' : 'not'} trusted${changed ? '' : '; there was nothing to take back'}.`,
    )
  return EXIT.done
}

/**
 * Describes what the file would do.
 * Its texts may come from anybody, so terminal sequences are removed.
 */
function summary({ path, sha256, reason }: AcceptableFile, demands: FileDemands, { screen, env }: Cli): string[] {
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
