import { randomUUID } from 'node:crypto'
import { request } from 'node:http'
import type { Socket } from 'node:net'
import { agents } from '../../agents/index.js'
import { DEFAULT_AGENT } from '../../contract/agent-ids.js'
import type { RawSignal } from '../../contract/signal.js'
import * as rareWork from '../../engine/rare-work.js'
import { connectToServer } from '../../lib/announced-server.js'
import { EXIT, reasonOf } from '../../lib/errors.js'
import { batonHome } from '../../lib/home.js'
import { judgeHome } from '../../lib/home-safety.js'
import { fileLog } from '../../lib/log.js'
import { scaleTimeout } from '../../lib/patience.js'
import type { Call, Cli, Command } from '../command.js'
import { readInput } from '../terminal.js'

const FIRST_BYTE_MS = 2_000
const WHOLE_MS = 5_000

export const statuslineCommand: Command = {
  name: 'statusline',
  summary: "print Baton's segment of a status line, to embed in your own",
  usage: ['[--segment]'],
  about:
    'Pass it the JSON that the client gives your status line, on standard input. ' +
    'It prints one line or nothing, and always exits with 0. Each call also measures the session.\n' +
    'The status line that baton install adds is faster, and also runs the one you had before.',
  options: {
    segment: { type: 'boolean', about: 'no effect: the command always prints only the segment' },
  },
  words: { min: 0, max: 0 },
  examples: [
    ['baton statusline --segment < status.json', 'print the segment'],
    [
      'input=$(cat); echo "$(my-line <<<"$input") $(baton statusline --segment <<<"$input")"',
      'print it after your own status line',
    ],
  ],
  json: '{text, session_id}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const { text, sessionId } = await segment(cli).catch((error: unknown) => {
    const home = batonHome(cli.env)
    if (judgeHome(home) === null)
      fileLog(home.log, cli.env)('error', 'the status line failed', { reason: reasonOf(error) })
    return { text: 'baton: the store cannot be used; run baton doctor', sessionId: null }
  })
  if (call.json) cli.print(JSON.stringify({ text, session_id: sessionId }))
  else if (text !== '') cli.print(text)
  return EXIT.done
}

const NOTHING = { text: '', sessionId: null }

async function segment(cli: Cli): Promise<{ text: string; sessionId: string | null }> {
  const { env } = cli
  // The launcher's composed status line already contains Baton's segment.
  if (env.BATON_DISABLE === '1' || env.BATON_IN_STATUS_LINE) return NOTHING
  if (process.stdin.isTTY) {
    cli.note("baton statusline reads the client's JSON from standard input. See baton statusline --help.")
    return NOTHING
  }
  const body = await readInput(process.stdin, FIRST_BYTE_MS, WHOLE_MS)
  const agent = agents[DEFAULT_AGENT]!
  const passed = Object.fromEntries(
    agent.environment.flatMap((name) => (env[name] ? [[name, env[name]]] : [])),
  ) as Record<string, string>
  const raw: RawSignal = { agent: agent.id, kind: 'status-line', body, env: passed, at: cli.now().getTime() }
  const sessionId = agent.open(raw)?.sessionId ?? null
  if (sessionId === null) return NOTHING
  const signalId = `${sessionId}.${randomUUID()}.status-line`
  const server = await connectToServer(batonHome(env).server)
  const answered = server ? await askServer(server, raw, signalId) : null
  return { text: answered ?? (await alone(cli, raw, signalId)), sessionId }
}

/**
 * Processes the signal in this process when no server answered.
 * If a server received it after all, the signal id makes it count once.
 */
async function alone(cli: Cli, raw: RawSignal, signalId: string): Promise<string> {
  const [{ openApp }, { loadConfig }] = await Promise.all([
    import('../../engine/open-engine.js'),
    import('../../config/load-config.js'),
  ])
  const app = openApp({ env: cli.env, loadConfig, rareWork: () => rareWork, now: cli.now, busyMs: 900 })
  try {
    const taken = app.engine.take(raw, { deliver: 'outbox', signalId, unserved: true })
    const record = taken.record ?? app.find(signalId.split('.', 1)[0]!)
    return record ? app.statusLine({ record, enabled: app.view(record).enabled }, Boolean(cli.env.NO_COLOR)) : ''
  } finally {
    app.close()
  }
}

const PATIENCE_MS = 1_000

/**
 * Sends a signal to the running server.
 * Null when the server did not accept it, so that the caller must process it.
 */
function askServer(
  server: { token: string; socket: Socket },
  raw: RawSignal,
  signalId: string,
): Promise<string | null> {
  const variables = Object.entries(raw.env).map(([name, value]) => [`x-env-${name}`, headerValue(value)])
  return new Promise((resolve) => {
    const asking = request(
      {
        host: '127.0.0.1',
        createConnection: () => server.socket,
        method: 'POST',
        path: `/signals/${raw.agent}/${raw.kind}`,
        headers: {
          'Content-Type': 'application/json',
          'Content-Length': Buffer.byteLength(raw.body),
          'X-Baton-Signal': signalId,
          Authorization: `Bearer ${server.token}`,
          Connection: 'close',
          ...Object.fromEntries(variables),
        },
        timeout: scaleTimeout(PATIENCE_MS),
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', () => resolve(null))
        response.on('end', () => resolve(response.statusCode === 200 ? Buffer.concat(chunks).toString('utf8') : null))
      },
    )
    asking.on('timeout', () => asking.destroy())
    asking.on('error', () => resolve(null))
    // Send bytes: a string body would give Node's headers the string's encoding.
    asking.end(Buffer.from(raw.body))
  })
}

/**
 * Encodes a header value. Headers are Latin-1 on the wire, and the server reads the bytes as UTF-8.
 */
function headerValue(value: string): string {
  return Buffer.from(value.replace(/[\u0000-\u001f\u007f]/g, ' '), 'utf8').toString('latin1')
}
