import { resolve } from 'node:path'
import { openPage, requestPageAddress } from '../../app/open-page.js'
import { temporaryInstallWarning } from '../../install/installation.js'
import type { UnitChange } from '../../install/system-unit.js'
import { type ConnectedServer, connectToServer, readServingUrl } from '../../lib/announced-server.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import { batonHome, type Home } from '../../lib/home.js'
import { displayPath } from '../../lib/replace-controls.js'
import type { RunOptions } from '../../server/run-server.js'
import { userToken } from '../../server/user-token.js'
import { isServerLocked } from '../../store/server-lock.js'
import type { Call, Cli, Command, Option } from '../command.js'
import { usageError } from '../parse-call.js'
import { DEFAULT_PORT, portFrom } from '../parse-values.js'
import { untilStopped } from '../terminal.js'

const ACTIONS = ['install', 'remove'] as const

const options = {
  port: {
    type: 'string',
    value: 'N',
    about: `the port to listen on (default: BATON_PORT, else ${DEFAULT_PORT}; 0 for any free one)`,
  },
  host: { type: 'string', value: 'H', about: 'the address to listen on (default: 127.0.0.1)' },
  'token-file': {
    type: 'string',
    value: 'F',
    about: 'a file with the token that requests must send (default: a new token at each start)',
  },
  'dry-run': { type: 'boolean', about: 'install, remove: only show what would be done' },
} satisfies Record<string, Option>

export const serveCommand: Command = {
  name: 'serve',
  summary: 'run the server for the web page, faster hooks and HTTP clients',
  usage: [
    '[--port N] [--host H] [--token-file F]',
    'install [--port N] [--host H] [--token-file F] [--dry-run]',
    'remove [--dry-run]',
  ],
  about:
    'Runs until Ctrl-C. Baton works without a server. With one, hooks are faster and baton open shows the web page. ' +
    'Jobs whose process died are resumed when the server starts.\n' +
    'The server listens on 127.0.0.1 only. Each request needs a token, which hooks, commands and the page send by ' +
    'themselves. ' +
    'To listen on another address, create a token of your own (--token-file).',
  options,
  actions: ACTIONS,
  forms: {
    install: {
      summary: 'start the server now and at every login (systemd or launchd, for your user only)',
      options: ['port', 'host', 'token-file', 'dry-run'],
    },
    remove: { summary: 'undo baton serve install', options: ['dry-run'] },
  },
  words: { min: 0, max: 1 },
  examples: [
    ['baton serve', 'listen on 127.0.0.1:8420'],
    ['baton serve --port 0 --json', 'listen on any free port and print it'],
    ['baton serve --host 0.0.0.0 --token-file ~/.baton-token', 'accept other machines with a token'],
    ['baton serve install', 'start the server at every login'],
    ['baton serve remove', 'no longer start it'],
  ],
  json: 'first line {url}; install, remove: {changed, files: [{path, action, backup}], steps: [{command, ok, reason}]}',
  run: runServe,
}

async function runServe(call: Call, cli: Cli): Promise<number> {
  const [action] = call.words
  if (action === 'install') return installService(call, cli)
  if (action === 'remove') return removeService(call, cli)
  if (call.flag('dry-run')) throw usageError(serveCommand, '--dry-run works only with install and remove.')
  return serveHere(cli, {
    port: portFrom(call.value('port'), cli.env, DEFAULT_PORT),
    host: call.value('host') ?? '127.0.0.1',
    tokenFile: call.value('token-file'),
    listening: ({ url }) => cli.print(call.json ? JSON.stringify({ url }) : `Baton listens on ${url}. Ctrl-C ends it.`),
  })
}

/** Runs the server in the foreground until a signal ends it. Returns the exit code. */
async function serveHere(
  cli: Cli,
  options: Pick<RunOptions, 'host' | 'port' | 'tokenFile' | 'listening'>,
): Promise<number> {
  const { runServer } = await import('../../server/run-server.js')
  await runServer(cli, {
    ...options,
    async openUseCases(app, ending) {
      const [{ useCasesOf }, { ownProgramOf }] = await Promise.all([
        import('../../app/app.js'),
        import('../own-program.js'),
      ])
      return useCasesOf(app, ownProgramOf(app, cli.env, process.argv[1]!, ending))
    },
    stopped: untilStopped,
    warn: cli.note,
  })
  return EXIT.done
}

export const openCommand: Command = {
  name: 'open',
  summary: 'open the web page with all sessions, jobs and briefs',
  usage: ['[--print] [--port N]'],
  about:
    'Opens the page of the running server in your browser. If no server runs, the command runs one until Ctrl-C, ' +
    'as baton serve does.\n' +
    'The browser gets access with a ticket that works once, within a minute. ' +
    'The ticket is passed in a file that only you can read, because other users can see command lines.\n' +
    '--print prints an address with a ticket, for a browser that you open yourself. ' +
    'If no server runs, it runs one on a terminal, and exits with 3 in a script.',
  options: {
    print: { type: 'boolean', about: 'print an address that gives one browser access within a minute' },
    port: {
      type: 'string',
      value: 'N',
      about: `the port to listen on if no server runs (default: BATON_PORT, else ${DEFAULT_PORT})`,
    },
  },
  words: { min: 0, max: 0 },
  examples: [
    ['baton open', 'open the page in your browser'],
    ['baton open --print', 'print an address, such as for a port forwarded by SSH'],
  ],
  json: 'first line {url}; with --print the address with a ticket',
  run: runOpen,
}

const noServer = (): BatonError =>
  new BatonError(
    'No server runs, so there is no address to print.',
    'Start one first: baton serve, or baton serve install to start it at every login.',
    EXIT.notFound,
  )

async function runOpen(call: Call, cli: Cli): Promise<number> {
  const port = portFrom(call.value('port'), cli.env, DEFAULT_PORT)
  const show = (shown: PageDisplay) => showPage(cli, { ...shown, print: call.flag('print'), json: call.json })
  const home = batonHome(cli.env)
  const running = await connectToServer(home.server)
  if (running) return show({ server: running, home, stays: false })
  // A script would wait forever for the server to end.
  if (call.flag('print') && (call.json || !cli.screen.terminal)) throw noServer()
  return serveHere(cli, {
    host: '127.0.0.1',
    port,
    tokenFile: null,
    listening: async () => {
      const own = await connectToServer(home.server)
      if (own) await show({ server: own, home, stays: true })
    },
  })
}

interface PageDisplay {
  server: ConnectedServer
  home: Pick<Home, 'server'>
  /** True when this process keeps serving. */
  stays: boolean
}

/** Opens the page in one browser, or prints its address. Returns the exit code. */
async function showPage(cli: Cli, shown: PageDisplay & { print: boolean; json: boolean }): Promise<number> {
  const { server, home, stays, print, json } = shown
  const { url, address } = await requestPageAddress(server)
  if (print) {
    cli.print(json ? JSON.stringify({ url: address }) : address)
    if (stays) cli.note('No server was running, so this command runs one until Ctrl-C.')
    return EXIT.done
  }
  cli.print(json ? JSON.stringify({ url }) : `Baton is at ${url}${stays ? '. Ctrl-C ends it.' : '.'}`)
  const trouble = await openPage(address, home, cli.env)
  if (trouble === null) return EXIT.done
  const byHand = 'To open one yourself, use the address that baton open --print prints'
  if (!stays) throw new BatonError(`No browser could be opened (${trouble}).`, `${byHand}.`)
  cli.note(`No browser could be opened (${trouble}). ${byHand}.`)
  return EXIT.done
}

async function installService(call: Call, cli: Cli): Promise<number> {
  const args = serviceArguments(call, cli)
  const { installUnit } = await import('../../install/system-unit.js')
  const { server } = batonHome(cli.env)
  const dryRun = call.flag('dry-run')
  const passing = dryRun ? null : temporaryInstallWarning(cli.program)
  if (passing) cli.note(passing)
  const change = await installUnit(cli, args, {
    dryRun,
    beforeStart(action, start) {
      const other = action === 'created' && isServerLocked(server) ? readServingUrl(server) : null
      if (other) cli.note(`Another server uses this home (process ${other.pid}). End it, then run ${start}.`)
    },
  })
  return tellService(call, cli, change)
}

async function removeService(call: Call, cli: Cli): Promise<number> {
  for (const name of ['port', 'host', 'token-file'])
    if (call.value(name) !== null) throw usageError(serveCommand, `baton serve remove has no option --${name}.`)
  const { removeUnit } = await import('../../install/system-unit.js')
  return tellService(call, cli, await removeUnit(cli, { dryRun: call.flag('dry-run') }))
}

function serviceArguments(call: Call, cli: Cli): string[] {
  const [port, host, file] = [call.value('port'), call.value('host'), call.value('token-file')]
  if (port !== null) portFrom(port, cli.env, DEFAULT_PORT)
  const token = file === null ? null : resolve(cli.cwd, file)
  const { warning } = userToken(host ?? '127.0.0.1', token)
  if (warning) cli.note(warning)
  return [
    ...(port === null ? [] : ['--port', port]),
    ...(host === null ? [] : ['--host', host]),
    ...(token === null ? [] : ['--token-file', token]),
  ]
}

function tellService(call: Call, cli: Cli, { path: file, action, steps }: UnitChange): number {
  const dry = call.flag('dry-run')
  const files = [{ path: file, action, backup: null }]
  if (call.json) {
    cli.print(JSON.stringify({ changed: !dry && action !== 'unchanged', dry_run: dry, files, steps }))
    return EXIT.done
  }
  const path = displayPath(file, cli.env.HOME)
  if (steps.length === 0) cli.print(`Nothing to remove: ${path} does not exist.`)
  else if (dry)
    cli.print([`Would be ${action}: ${path}`, ...steps.map(({ command }) => `Would run: ${command}`)].join('\n'))
  else if (action === 'removed') cli.print(`Removed ${path}. The server no longer starts at login.`)
  else
    cli.print(
      `Installed ${path}. The server runs now and starts at every login.\nTo open its page: baton open. To undo: ` +
        'baton serve remove.',
    )
  return EXIT.done
}
