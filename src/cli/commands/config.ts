import type { Call, Cli, Command } from '../command.js'
import { wrong } from '../parse-call.js'

export const command: Command = {
  name: 'config',
  summary: 'check the configuration, or explain what applies to a session',
  usage: ['check', 'explain [session]'],
  about:
    'check reads the user file and the project file of this folder and names everything that is wrong; it ends with 2 then. ' +
    'explain tells where each level stands, which rule put it there and where that rule is written. Without a session: the one this ' +
    'command runs in, else the newest of this project, else only the rules.',
  options: {},
  actions: ['check', 'explain'],
  words: { min: 1, max: 2 },
  examples: [
    ['baton config check', 'is everything right?'],
    ['baton config explain', 'what applies here, and why'],
    ['baton config explain d76d6c4d --json', 'the levels of one session for a script'],
  ],
  json: 'check: {ok, errors: [{key, file, reason, hint}], notes, files}; explain: {levels: [{name, at_tokens, rule, from, reachable, …}], …}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const [action, session] = call.words
  if (action === 'explain') return (await import('../config/explain.js')).explain(call, cli, session ?? null)
  if (session !== undefined) throw wrong(command, `baton config check does not know what to do with "${session}".`)
  return (await import('../config/check.js')).check(call, cli)
}
