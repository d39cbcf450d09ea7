import { spawn } from 'node:child_process'
import { request } from 'node:http'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { ConnectedServer } from '../lib/announced-server.js'
import { writeFileAtomic } from '../lib/atomic-file.js'
import { BatonError, reasonOf } from '../lib/errors.js'
import { findProgram } from '../lib/find-program.js'
import type { Home } from '../lib/home.js'
import { makePrivateFolder } from '../lib/private-folder.js'

type Env = Record<string, string | undefined>

/** Addresses of a server's page. */
interface PageAddress {
  url: string
  /** Address with a ticket, which lets one browser in. */
  address: string
}

/**
 * Returns the addresses of a server's page, with a new ticket. Throws when the server gives none.
 */
export async function requestPageAddress(server: ConnectedServer): Promise<PageAddress> {
  const { ticket, page_url } = await requestTicket(server)
  const url = page_url ?? `http://127.0.0.1:${server.port}`
  return { url, address: `${url}/#ticket=${ticket}` }
}

/**
 * Opens an address with a ticket in the user's browser, through a file that only the user can read.
 * Returns null on success, or else the reason of the failure.
 */
export async function openPage(address: string, home: Pick<Home, 'server'>, env: Env): Promise<string | null> {
  const file = join(dirname(home.server), 'open.html')
  makePrivateFolder(dirname(file))
  writeFileAtomic(file, forwardTo(address), { mode: 0o600 })
  return openBrowser(pathToFileURL(file).href, env)
}

/**
 * Requests a ticket over the verified connection, because only the real server may see the token.
 */
async function requestTicket(server: ConnectedServer): Promise<{ ticket: string; page_url: string | null }> {
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
    `The server on port ${server.port} gave no ticket for the page: ${reason}.`,
    'Restart the server (baton serve), or run baton doctor.',
  )
}

function postTickets({ token, socket }: ConnectedServer): Promise<{ status: number; text: string }> {
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
    asked.on('timeout', () => asked.destroy(new Error('it did not answer within 5 s')))
    asked.on('error', reject)
    asked.end()
  })
}

/**
 * Returns an HTML page that forwards to the address.
 * Every user of the machine could read an address on the browser's command line.
 * No other user can read this private file.
 */
const forwardTo = (address: string): string =>
  `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Baton</title>` +
  `<meta http-equiv="refresh" content="0;url=${address}"><a href="${address}">Baton</a>\n`

/** Time in which a browser that fails does so. A browser that still runs after it has opened. */
const PATIENCE_MS = 1_500

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
  for (const [name, ...args] of browserCommands(address, env, platform)) {
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
export function browserCommands(address: string, env: Env, platform: NodeJS.Platform): string[][] {
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
