import { readFileSync } from 'node:fs'
import { BatonError, EXIT, errorCodeOf, reasonOf } from '../../lib/errors.js'
import { type Model, startModel } from '../../model/model.js'
import { parseScript, ScriptError } from '../../model/parse-script.js'
import type { Script } from '../../model/script.js'
import type { Call, Cli, Command } from '../command.js'
import { usageError } from '../parse-call.js'
import { parsePort } from '../parse-values.js'
import { untilStopped } from '../terminal.js'

export const modelCommand: Command = {
  name: 'model',
  summary: 'run a scripted model, to try an agent without a key or cost',
  usage: ['[--port N] --script F'],
  about:
    'Serves the Anthropic Messages API on loopback and answers from a script. ' +
    'docs/reference/scripted-model.md explains the format. GET /log returns the requests.',
  options: {
    script: { type: 'string', value: 'F', about: 'the JSON file with the script' },
    port: { type: 'string', value: 'N', about: 'the port to listen on (default: any free one)' },
  },
  words: { min: 0, max: 0 },
  examples: [
    ['baton model --script climb.json', 'run until Ctrl-C; the first line is {"url": …}'],
    ['ANTHROPIC_BASE_URL=<url> ANTHROPIC_API_KEY=sk-fake claude -p go', 'run an agent with it'],
  ],
  json: 'first line {url} (also without --json)',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const file = call.value('script')
  if (file === null)
    throw usageError(
      modelCommand,
      'baton model needs --script F.',
      'Give a JSON file such as {"steps": ["Done."]}. docs/reference/scripted-model.md explains the format.',
    )
  const port = call.value('port')
  const model = await start(readScript(file), port === null ? 0 : parsePort(port, '--port'))
  const stopped = untilStopped()
  cli.print(JSON.stringify({ url: model.url }))
  if (cli.screen.terminal)
    cli.note(
      `In another terminal: ANTHROPIC_BASE_URL=${model.url} ANTHROPIC_API_KEY=sk-fake claude\nCtrl-C ends the model.`,
    )
  await stopped
  await model.close()
  return EXIT.done
}

function readScript(file: string): Script {
  try {
    return parseScript(readFileSync(file, 'utf8'), file)
  } catch (error) {
    if (error instanceof ScriptError) {
      throw new BatonError(error.message, 'docs/reference/scripted-model.md explains the format.', EXIT.usage, {
        file,
        errors: error.problems,
      })
    }
    if (errorCodeOf(error) === 'ENOENT')
      throw new BatonError(
        `There is no script ${file}.`,
        'Give the path of a JSON file; docs/reference/scripted-model.md explains the format.',
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
    if (errorCodeOf(error) === 'EADDRINUSE')
      throw new BatonError(
        `Cannot listen on port ${port}: another program uses it.`,
        'Leave --port out to use any free port.',
        EXIT.refused,
      )
    throw error
  }
}
