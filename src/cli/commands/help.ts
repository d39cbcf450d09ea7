import { BatonError, EXIT } from '../../lib/errors.js'
import { nearestName } from '../../lib/nearest-name.js'
import type { Call, Cli, Command } from '../command.js'
import { COMMAND_NAMES, loadAll, loadCommand } from '../commands.js'
import { commandHelp, overview } from '../help-text.js'

export const command: Command = {
  name: 'help',
  summary: 'explain Baton, or one command',
  usage: ['[command] [action]'],
  options: {},
  words: { min: 0, max: 2 },
  examples: [
    ['baton help', 'all commands'],
    ['baton help status', 'one of them'],
    ['baton help handoffs check', 'one thing a command does'],
  ],
  json: '{commands: [{name, summary, usage, options, json}]}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const [name, action] = call.words
  if (name === undefined) {
    const all = await loadAll()
    cli.print(call.json ? JSON.stringify({ commands: all.map(described) }) : overview(all, cli.screen))
    return EXIT.done
  }
  const found = await loadCommand(name)
  if (!found) {
    const nearest = nearestName(name, COMMAND_NAMES)
    throw new BatonError(
      `There is no command "${name}".`,
      nearest ? `Did you mean baton help ${nearest}?` : 'baton help lists them all.',
      EXIT.usage,
    )
  }
  cli.print(call.json ? JSON.stringify({ commands: [described(found)] }) : commandHelp(found, cli.screen, action))
  return EXIT.done
}

function described({ name, summary, usage, options, json }: Command): Record<string, unknown> {
  return {
    name,
    summary,
    usage: usage.map((form) => `baton ${name} ${form}`.trim()),
    options: Object.keys(options).map((option) => `--${option}`),
    json,
  }
}
