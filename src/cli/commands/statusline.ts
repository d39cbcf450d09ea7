import { randomUUID } from 'node:crypto'
import { agents } from '../../agents/index.js'
import { around } from '../../around.js'
import type { RawSignal } from '../../contract/signal.js'
import { EXIT, reasonOf } from '../../lib/errors.js'
import { batonHome } from '../../lib/home.js'
import { fileLog } from '../../lib/log.js'
import type { Call, Cli, Command } from '../command.js'
import { readInput } from '../read-input.js'
import { askServer } from '../serving/ask-server.js'
import { runningServer } from '../serving/running-server.js'

const FIRST_BYTE_MS = 2_000
const WHOLE_MS = 5_000

export const command: Command = {
  name: 'statusline',
  summary: "print Baton's segment for a status line of your own",
  usage: ['[--segment]'],
  about:
    'For a status line of your own: pass it the JSON the client gave you. It also counts as a reading, so it keeps Baton up to date ' +
    'where the installed status line is not used. It prints one line or nothing and always ends with 0. (The one that baton install ' +
    'puts into the settings is faster, and runs your former status line beside it.)',
  options: {
    segment: { type: 'boolean', about: "only Baton's segment, to be embedded in another line (what it prints anyway)" },
  },
  words: { min: 0, max: 0 },
  examples: [
    ['baton statusline --segment < status.json', "Baton's segment"],
    ['input=$(cat); echo "$(my-line <<<"$input") $(baton statusline --segment <<<"$input")"', 'beside a line of your own'],
  ],
  json: '{text, session_id}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const { text, sessionId } = await segment(cli).catch((error: unknown) => {
    fileLog(batonHome(cli.env).log, cli.env)('error', 'the status line failed', { reason: reasonOf(error) })
    return { text: 'baton: cannot use its store, run baton doctor', sessionId: null }
  })
  if (call.json) cli.print(JSON.stringify({ text, session_id: sessionId }))
  else if (text !== '') cli.print(text)
  return EXIT.done
}

const NOTHING = { text: '', sessionId: null }

async function segment(cli: Cli): Promise<{ text: string; sessionId: string | null }> {
  const { env } = cli
  // Inside the launcher's composed line Baton has its own segment already.
  if (env.BATON_DISABLE === '1' || env.BATON_IN_STATUS_LINE) return NOTHING
  if (process.stdin.isTTY) {
    cli.note("baton statusline reads the client's JSON on standard input; see baton statusline --help.")
    return NOTHING
  }
  const body = await readInput(process.stdin, FIRST_BYTE_MS, WHOLE_MS)
  const agent = agents['claude-code']!
  const passed = Object.fromEntries(agent.environment.flatMap((name) => (env[name] ? [[name, env[name]]] : []))) as Record<
    string,
    string
  >
  const raw: RawSignal = { agent: agent.id, kind: 'status-line', body, env: passed, at: cli.now().getTime() }
  const sessionId = agent.open(raw)?.sessionId ?? null
  if (sessionId === null) return NOTHING
  const signalId = `${sessionId}.${randomUUID()}.status-line`
  const server = runningServer(batonHome(env))
  const answered = server ? await askServer(server, raw, signalId) : null
  return { text: answered ?? (await alone(cli, raw, signalId)), sessionId }
}

/** No server: the engine in this process. Should a server have taken it after all, the id makes it count once. */
async function alone(cli: Cli, raw: RawSignal, signalId: string): Promise<string> {
  const [{ openHouse }, { loadConfig }] = await Promise.all([import('../../house.js'), import('../../config/load-config.js')])
  const house = openHouse({ env: cli.env, loadConfig, around: () => around, now: cli.now, busyMs: 900 })
  try {
    const taken = house.engine.take(raw, { deliver: 'outbox', signalId, unserved: true })
    const record = taken.record ?? house.find(signalId.split('.', 1)[0]!)
    return record ? house.statusLine({ record, enabled: house.view(record).enabled }, Boolean(cli.env.NO_COLOR)) : ''
  } finally {
    house.close()
  }
}
