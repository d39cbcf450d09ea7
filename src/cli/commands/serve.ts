import type { Call, Cli, Command, Option } from '../command.js'
import { wrong } from '../parse-call.js'
import { PORT, portFrom } from '../serving/port.js'

const ACTIONS = ['install', 'remove'] as const

const options = {
  port: { type: 'string', value: 'N', about: `where to listen (default: BATON_PORT, else ${PORT}; 0: any free port)` },
  host: { type: 'string', value: 'H', about: 'the address to listen on (default: 127.0.0.1)' },
  'token-file': { type: 'string', value: 'F', about: 'a file with the token that every caller must then give, for everything' },
  'dry-run': { type: 'boolean', about: 'install, remove: only say what would be done' },
} satisfies Record<string, Option>

export const command: Command = {
  name: 'serve',
  summary: 'run the server: the page, faster hooks, answers for other tools',
  usage: [
    '[--port N] [--host H] [--token-file F]',
    'install [--port N] [--host H] [--token-file F] [--dry-run]',
    'remove [--dry-run]',
  ],
  about:
    'Runs in the foreground until Ctrl-C. Baton works without it; while it runs, hooks ask it instead of opening the store, and ' +
    'baton open shows its page. When it starts, jobs that lost their runner go on, in a process of their own. ' +
    'It listens on 127.0.0.1 only; any other address needs a token, which every caller must then give. ' +
    'install has the system start it whenever you log in (systemd or launchd, yours alone); remove takes that back.',
  options,
  actions: ACTIONS,
  words: { min: 0, max: 1 },
  examples: [
    ['baton serve', 'on 127.0.0.1:8420'],
    ['baton serve --port 0 --json', 'on any free port; the first line says which'],
    ['baton serve --host 0.0.0.0 --token-file ~/.baton-token', 'for other machines, with a token'],
    ['baton serve install', 'from now on whenever you log in'],
  ],
  json: 'first line {url}; install, remove: {changed, files: [{path, action, backup}], steps: [{command, ok, reason}]}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const [action] = call.words
  if (action === 'install') return (await import('../serving/install-unit.js')).installUnit(call, cli)
  if (action === 'remove') return (await import('../serving/install-unit.js')).removeUnit(call, cli)
  if (call.flag('dry-run')) throw wrong(command, '--dry-run goes with install and remove.')
  const { serveHere } = await import('../serving/serve-here.js')
  return serveHere(cli, {
    ...{ port: portFrom(call.value('port'), cli.env, PORT), host: call.value('host') ?? '127.0.0.1' },
    tokenFile: call.value('token-file'),
    listening: ({ url }) => cli.print(call.json ? JSON.stringify({ url }) : `Baton listens on ${url}. Ctrl-C ends it.`),
  })
}
