import { HANDOFF_RULE } from '../../install/claude-code-settings.js'
import { hasRule } from '../../install/handoff-rule.js'
import { install } from '../../install/install.js'
import { readIfThere } from '../../lib/atomic-file.js'
import { EXIT } from '../../lib/errors.js'
import { batonHome } from '../../lib/home.js'
import { clientVersion } from '../client-version.js'
import type { Call, Cli, Command } from '../command.js'
import { AGENT_NAMES, launcherFor, passingPlace } from '../launcher-for.js'
import { modHere } from '../mod-here.js'
import { prepareHome } from '../prepare-home.js'
import { changeLines } from '../render/changes.js'

export const command: Command = {
  name: 'install',
  summary: "put Baton into the agent's settings",
  usage: ['[--agent claude-code] [--scope user|project] [--allow-handoff] [--dry-run]'],
  about:
    'Adds hooks, a status line (yours goes on beside it) and, where the client knows them, a mod that tells the exact compaction point. ' +
    'From then on a session that is nearly full is handed over to a fresh one, with a checked brief, at the end of its turn; ' +
    'handoff: {mode: ask} or {mode: off} in the configuration changes that. ' +
    'Nothing else in the file changes; the bytes from before are kept, and baton uninstall gives them back. Twice is as good as once.',
  options: {
    agent: { type: 'string', value: 'NAME', oneOf: AGENT_NAMES, about: 'the agent' },
    scope: {
      type: 'string',
      value: 'SCOPE',
      oneOf: ['user', 'project'],
      about: 'your settings, or those of the project in this folder',
    },
    'allow-handoff': { type: 'boolean', about: `let the agent run baton handoff without a question (${HANDOFF_RULE})` },
    'dry-run': { type: 'boolean', about: 'say what would be done, and do nothing' },
  },
  words: { min: 0, max: 0 },
  examples: [
    ['baton install', 'for you, in all projects'],
    ['baton install --scope project', 'for the project in this folder only'],
    ['baton install --allow-handoff', 'and let the agent give its brief by a command'],
    ['baton install --dry-run', 'look first'],
  ],
  json: '{changed, files: [{path, action, backup}], notes, dry_run}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const home = batonHome(cli.env)
  const agent = call.value('agent') ?? 'claude-code'
  const scope = call.value('scope') === 'project' ? 'project' : 'user'
  const dryRun = call.flag('dry-run')
  const launcher = launcherFor(agent, home, cli)
  const done = install({
    home: home.root,
    env: cli.env,
    project: cli.cwd,
    scope,
    launcher,
    mod: modHere(home),
    clientVersion: await clientVersion(cli.env),
    allowHandoff: call.flag('allow-handoff'),
    clock: cli.now,
    dryRun,
  })
  if (!dryRun) prepareHome(home, cli.env)
  const passing = passingPlace(cli.program)
  const allows = hasRule(readIfThere(done.files[0]?.path ?? '')?.toString() ?? '')
  const notes = passing === null ? done.notes : [...done.notes, passing]
  if (call.json) cli.print(JSON.stringify({ changed: done.changed, files: done.files, notes, dry_run: dryRun }))
  else
    cli.print(
      report(done.changed, changeLines(done.files, cli.env.HOME, cli.screen.paint), notes, { scope, dryRun, allows }, cli).join(
        '\n',
      ),
    )
  return EXIT.done
}

function report(
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
      ? 'This would be done (nothing was):'
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
