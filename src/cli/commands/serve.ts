import { spawn } from 'node:child_process'
import { readFileSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { dirname, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { passingPlace } from '../../install/installation.js'
import type { UnitChange } from '../../install/system-unit.js'
import { type FoundServer, findServer, readServingUrl } from '../../lib/announced-server.js'
import { writeFileAtomic } from '../../lib/atomic-file.js'
import { BatonError, EXIT, reasonOf } from '../../lib/errors.js'
import { findProgram } from '../../lib/find-program.js'
import { batonHome, type Home } from '../../lib/home.js'
import { makePrivateFolder } from '../../lib/private-folder.js'
import { shortenHome } from '../../lib/shown-text.js'
import { isLoopback } from '../../server/guard.js'
import { isServerLocked } from '../../store/server-lock.js'
import type { Call, Cli, Command, Option } from '../command.js'
import { wrong } from '../parse-call.js'
import { PORT, portFrom } from '../parse-values.js'

const ACTIONS = ['install', 'remove'] as const

const options = {
  port: { type: 'string', value: 'N', about: `where to listen (default: BATON_PORT, else ${PORT}; 0: any free port)` },
  host: { type: 'string', value: 'H', about: 'the address to listen on (default: 127.0.0.1)' },
  'token-file': {
    type: 'string',
    value: 'F',
    about: 'a file with the token that callers must give (default: a new one at each start)',
  },
  'dry-run': { type: 'boolean', about: 'install, remove: only say what would be done' },
} satisfies Record<string, Option>

export const serveCommand: Command = {
  name: 'serve',
  summary: 'run the server: the page, faster hooks, answers for other tools',
  usage: [
    '[--port N] [--host H] [--token-file F]',
    'install [--port N] [--host H] [--token-file F] [--dry-run]',
    'remove [--dry-run]',
  ],
  about:
    'Runs in the foreground until Ctrl-C. Baton works without it; while it runs, hooks ask it instead of opening the store, and ' +
    'baton open shows its page. When it starts, jobs whose process died are resumed, each in a process of its own. ' +
    'It listens on 127.0.0.1 only, and callers must give its token: hooks, commands and the page do so by themselves. ' +
    'Any other address needs a token of your own. ' +
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
  run: runServe,
}

async function runServe(call: Call, cli: Cli): Promise<number> {
  const [action] = call.words
  if (action === 'install') return installService(call, cli)
  if (action === 'remove') return removeService(call, cli)
  if (call.flag('dry-run')) throw wrong(serveCommand, '--dry-run goes with install and remove.')
  const { serveHere } = await import('../serve-here.js')
  return serveHere(cli, {
    port: portFrom(call.value('port'), cli.env, PORT),
    host: call.value('host') ?? '127.0.0.1',
    tokenFile: call.value('token-file'),
    listening: ({ url }) => cli.print(call.json ? JSON.stringify({ url }) : `Baton listens on ${url}. Ctrl-C ends it.`),
  })
}

export const openCommand: Command = {
  name: 'open',
  summary: 'show every session, job and brief in your browser',
  usage: ['[--print] [--port N]'],
  about:
    'Opens the page of the running server. Without one it runs a server first, in the foreground until Ctrl-C, as baton serve does. ' +
    'The browser is let in by a ticket that is good once, for a minute, and is on no command line: a file that only you can read ' +
    'takes it there. --print prints an address with a ticket instead, for a browser that has to be opened by hand; in a script it ' +
    'needs a running server and ends with 3 without one, on a terminal it serves until Ctrl-C then, and says so.',
  options: {
    print: { type: 'boolean', about: 'print an address that lets one browser in, within a minute; open nothing' },
    port: {
      type: 'string',
      value: 'N',
      about: `where to listen if no server runs (default: BATON_PORT, else ${PORT})`,
    },
  },
  words: { min: 0, max: 0 },
  examples: [
    ['baton open', 'the page in your browser'],
    ['baton open --print', 'an address to copy, say over SSH with a forwarded port'],
  ],
  json: 'first line {url}; with --print the address that lets one browser in',
  run: runOpen,
}

const noServer = (): BatonError =>
  new BatonError(
    'No server runs, so there is no address to print.',
    'Start one first: baton serve, or baton serve install to have one whenever you log in.',
    EXIT.notFound,
  )

async function runOpen(call: Call, cli: Cli): Promise<number> {
  const port = portFrom(call.value('port'), cli.env, PORT)
  const show = (shown: Shown) => showPage(cli, { ...shown, print: call.flag('print'), json: call.json })
  const home = batonHome(cli.env)
  const running = await findServer(home.server)
  if (running) return show({ server: running, home, stays: false })
  // A script would wait forever for the server to end.
  if (call.flag('print') && (call.json || !cli.screen.terminal)) throw noServer()
  const { serveHere } = await import('../serve-here.js')
  return serveHere(cli, {
    host: '127.0.0.1',
    port,
    tokenFile: null,
    listening: async () => {
      const own = await findServer(home.server)
      if (own) await show({ server: own, home, stays: true })
    },
  })
}

interface Shown {
  server: FoundServer
  home: Pick<Home, 'server'>
  /** True when this process keeps serving. */
  stays: boolean
}

/** Opens the page in one browser, or prints its address. Returns the exit code. */
async function showPage(cli: Cli, shown: Shown & { print: boolean; json: boolean }): Promise<number> {
  const { server, home, stays, print, json } = shown
  const { ticket, page_url } = await ticketFrom(server)
  const url = page_url ?? `http://127.0.0.1:${server.port}`
  const address = `${url}/#ticket=${ticket}`
  if (print) {
    cli.print(json ? JSON.stringify({ url: address }) : address)
    if (stays) cli.note('No server was running, so this command is one until Ctrl-C.')
    return EXIT.done
  }
  cli.print(json ? JSON.stringify({ url }) : `Baton is at ${url}${stays ? '. Ctrl-C ends it.' : '.'}`)
  const file = join(dirname(home.server), 'open.html')
  makePrivateFolder(dirname(file))
  writeFileAtomic(file, forwardTo(address), { mode: 0o600 })
  const trouble = await openBrowser(pathToFileURL(file).href, cli.env)
  if (trouble === null) return EXIT.done
  const byHand = 'baton open --print prints an address that lets a browser in'
  if (!stays) throw new BatonError(`No browser could be opened (${trouble}).`, `${byHand}.`)
  cli.note(`No browser could be opened (${trouble}). ${byHand}.`)
  return EXIT.done
}

/**
 * Requests a ticket over the verified connection, because only the real server may see the token.
 */
async function ticketFrom(server: FoundServer): Promise<{ ticket: string; page_url: string | null }> {
  let reason: string
  try {
    const { status, text } = await postTickets(server)
    const told = JSON.parse(text) as { ticket?: string; page_url?: string | null; error?: string }
    if (told.ticket) return { ticket: told.ticket, page_url: told.page_url ?? null }
    reason = told.error ?? `it answered ${status}`
  } catch (error) {
    reason = reasonOf(error)
  }
  throw new BatonError(
    `The server on port ${server.port} gives no ticket: ${reason}.`,
    'Start it again (baton serve), or see baton doctor.',
  )
}

function postTickets({ token, socket }: FoundServer): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        method: 'POST',
        host: '127.0.0.1',
        path: '/api/tickets',
        createConnection: () => socket,
        headers: { Authorization: `Bearer ${token}`, 'Content-Length': 0, Connection: 'close' },
        timeout: 5_000,
      },
      (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
        response.on('error', reject)
        response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
      },
    )
    asked.on('timeout', () => asked.destroy(new Error('it does not answer')))
    asked.on('error', reject)
    asked.end()
  })
}

/**
 * Returns a page that forwards to the address.
 * Every user could read an address on a command line while the browser starts,
 * but not this private file.
 */
const forwardTo = (address: string): string =>
  `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Baton</title>` +
  `<meta http-equiv="refresh" content="0;url=${address}"><a href="${address}">Baton</a>\n`

/** Time in which a browser that fails does so. One that still runs after it is considered open. */
const PATIENCE_MS = 1_500

type Env = Record<string, string | undefined>

/**
 * Opens an address in the user's browser.
 * Returns null on success, or else the reason of the failure.
 */
async function openBrowser(
  address: string,
  env: Env,
  platform: NodeJS.Platform = process.platform,
): Promise<string | null> {
  const tried: string[] = []
  for (const [name, ...args] of browsers(address, env, platform)) {
    const program = name!.startsWith('/') ? name! : findProgram(name!, env)
    const trouble = program === null ? 'not found' : await start(program, args, env)
    if (trouble === null) return null
    tried.push(`${name}: ${trouble}`)
  }
  return tried.length > 0 ? tried.join('; ') : 'there is no display'
}

/**
 * Returns the commands to try in order.
 * `BROWSER` may list several separated by colons, with `%s` for the address.
 */
export function browsers(address: string, env: Env, platform: NodeJS.Platform): string[][] {
  const own = (env.BROWSER ?? '')
    .split(':')
    .map((line) => line.trim().split(/\s+/))
    .filter(([name]) => name !== '')
    .map((words) =>
      words.includes('%s') ? words.map((word) => (word === '%s' ? address : word)) : [...words, address],
    )
  if (own.length > 0) return own
  if (platform === 'darwin') return [['open', address]]
  return env.DISPLAY || env.WAYLAND_DISPLAY ? [['xdg-open', address]] : []
}

function start(program: string, args: readonly string[], env: Env): Promise<string | null> {
  return new Promise((resolve) => {
    const child = spawn(program, args, { env, stdio: 'ignore', detached: true })
    const timer = setTimeout(() => resolve(null), PATIENCE_MS)
    const end = (trouble: string | null): void => {
      clearTimeout(timer)
      resolve(trouble)
    }
    child.once('error', (error) => end(reasonOf(error)))
    child.once('exit', (code, signal) => end(code === 0 ? null : `ended with ${code ?? signal}`))
    child.unref()
  })
}

/**
 * Returns the user's own token; null when none was given.
 * Throws for an address beyond loopback without one.
 */
export function checkDoors(host: string, tokenFile: string | null, cli: Cli): string | null {
  const token = tokenFrom(tokenFile, cli)
  if (!isLoopback(host) && token === null) throw openToAll(host)
  return token
}

function openToAll(host: string): BatonError {
  return new BatonError(
    `Listening on ${host} would open Baton to other machines.`,
    'Give --token-file FILE with a secret of your own, or leave --host out to stay on 127.0.0.1.',
    EXIT.refused,
  )
}

function tokenFrom(file: string | null, cli: Cli): string | null {
  if (file === null) return null
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new BatonError(
      `The token file cannot be read (${reasonOf(error)}).`,
      `Make one: (umask 077; openssl rand -hex 32 > ${file})`,
      EXIT.usage,
    )
  }
  if (!/^[\x21-\x7e]{16,}$/.test(text)) {
    throw new BatonError(
      `The token in ${file} is too short or holds spaces.`,
      'It needs at least 16 characters, all on one line: openssl rand -hex 32',
      EXIT.usage,
    )
  }
  if (statSync(file).mode & 0o077) cli.note(`Others may read ${file}: chmod 600 it.`)
  return text
}

async function installService(call: Call, cli: Cli): Promise<number> {
  const args = serviceArguments(call, cli)
  const { installUnit } = await import('../../install/system-unit.js')
  const { server } = batonHome(cli.env)
  const dryRun = call.flag('dry-run')
  const passing = dryRun ? null : passingPlace(cli.program)
  if (passing) cli.note(passing)
  const change = await installUnit(cli, args, {
    dryRun,
    beforeStart(action, start) {
      const other = action === 'created' && isServerLocked(server) ? readServingUrl(server) : null
      if (other) cli.note(`Another server has this home (process ${other.pid}): end it, then ${start}.`)
    },
  })
  return tellService(call, cli, change)
}

async function removeService(call: Call, cli: Cli): Promise<number> {
  for (const name of ['port', 'host', 'token-file'])
    if (call.value(name) !== null) throw wrong(serveCommand, `baton serve remove has no option --${name}.`)
  const { removeUnit } = await import('../../install/system-unit.js')
  return tellService(call, cli, await removeUnit(cli, { dryRun: call.flag('dry-run') }))
}

function serviceArguments(call: Call, cli: Cli): string[] {
  const [port, host, file] = [call.value('port'), call.value('host'), call.value('token-file')]
  if (port !== null) portFrom(port, cli.env, PORT)
  const token = file === null ? null : resolve(cli.cwd, file)
  checkDoors(host ?? '127.0.0.1', token, cli)
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
  const path = shortenHome(file, cli.env.HOME)
  if (steps.length === 0) cli.print(`There is nothing to remove: ${path} is not there.`)
  else if (dry)
    cli.print([`Would be ${action}: ${path}`, ...steps.map(({ command }) => `Would run: ${command}`)].join('\n'))
  else if (action === 'removed') cli.print(`The server no longer starts by itself: ${path} is gone.`)
  else
    cli.print(
      `The server runs now, and whenever you log in: ${path}\nbaton open shows its page; baton serve remove takes this back.`,
    )
  return EXIT.done
}
