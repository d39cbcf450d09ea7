import { readFileSync } from 'node:fs'
import { BatonError, codeOf, EXIT, reasonOf } from '../../lib/errors.js'
import { type Model, startModel } from '../../model/model.js'
import { parseScript, ScriptError } from '../../model/parse-script.js'
import type { Script } from '../../model/script.js'
import type { Call, Cli, Command } from '../command.js'
import { wrong } from '../parse-call.js'
import { parsePort } from '../parse-values.js'
import { untilStopped } from '../terminal.js'

export const command: Command = {
  name: 'model',
  summary: 'run a scripted model for dry runs: the real agent, no key, no cost',
  usage: ['[--port N] --script F'],
  about:
    'Speaks the Anthropic Messages API on loopback and answers from a script (docs/model.md). GET /log tells what was asked.',
  options: {
    script: { type: 'string', value: 'F', about: 'the script, a JSON file' },
    port: { type: 'string', value: 'N', about: 'where to listen (default: any free port)' },
  },
  words: { min: 0, max: 0 },
  examples: [
    ['baton model --script climb.json', 'prints {"url": …} and runs until Ctrl-C'],
    ['ANTHROPIC_BASE_URL=<url> ANTHROPIC_API_KEY=sk-fake claude -p go', 'the agent that talks to it'],
  ],
  json: 'first line {url} (also without --json)',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const file = call.value('script')
  if (file === null)
    throw wrong(
      command,
      'baton model needs a script: --script F.',
      'docs/model.md explains the format; a small one: {"steps": ["Done."]}',
    )
  const port = call.value('port')
  const model = await start(readScript(file), port === null ? 0 : parsePort(port, '--port'))
  const stopped = untilStopped()
  cli.print(JSON.stringify({ url: model.url }))
  if (cli.screen.terminal)
    cli.note(`Now, elsewhere: ANTHROPIC_BASE_URL=${model.url} ANTHROPIC_API_KEY=sk-fake claude\nCtrl-C ends it.`)
  await stopped
  await model.close()
  return EXIT.done
}

function readScript(file: string): Script {
  try {
    return parseScript(readFileSync(file, 'utf8'), file)
  } catch (error) {
    if (error instanceof ScriptError) {
      throw new BatonError(error.message, 'docs/model.md explains the format.', EXIT.usage, {
        file,
        errors: error.problems,
      })
    }
    if (codeOf(error) === 'ENOENT')
      throw new BatonError(
        `There is no script ${file}.`,
        'Give the path of a JSON file; docs/model.md explains the format.',
        EXIT.notFound,
      )
    throw new BatonError(
      `The script ${file} cannot be read (${reasonOf(error)}).`,
      'Give the path of a readable JSON file.',
      EXIT.usage,
    )
  }
}

async function start(script: Script, port: number): Promise<Model> {
  try {
    return await startModel({ script, port })
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE')
      throw new BatonError(
        `Cannot listen on port ${port}: another program uses it.`,
        'Leave --port out to get a free one.',
        EXIT.refused,
      )
    throw error
  }
}
