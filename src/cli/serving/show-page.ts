import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { writeFileAtomic } from '../../lib/atomic-file.js'
import { BatonError, EXIT, reasonOf } from '../../lib/errors.js'
import type { Home } from '../../lib/home.js'
import { makePrivateFolder } from '../../lib/private-folder.js'
import { readToken } from '../../server/token-file.js'
import type { Cli } from '../command.js'
import { openBrowser } from './open-browser.js'

export interface Shown {
  url: string
  /** null: that of this home. */
  token: string | null
  home: Pick<Home, 'server' | 'token'>
  /** This process goes on serving. */
  stays: boolean
}

/** Lets one browser in. Returns the exit code. */
export async function showPage(cli: Cli, shown: Shown & { print: boolean; json: boolean }): Promise<number> {
  const { url, home, stays, print, json } = shown
  const token = shown.token ?? readToken(home.token)
  if (token === null) throw new BatonError(`The server at ${url} has no token here.`, 'Is it another home? baton doctor tells.')
  const address = `${url}/#ticket=${await ticketFrom(url, token)}`
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
  const byHand = `baton open --print prints an address that lets a browser in; or paste the token, which is in ${home.token}`
  if (!stays) throw new BatonError(`No browser could be opened (${trouble}).`, `${byHand}.`)
  cli.note(`No browser could be opened (${trouble}). ${byHand}.`)
  return EXIT.done
}

async function ticketFrom(url: string, token: string): Promise<string> {
  let reason: string
  try {
    const reply = await fetch(`${url}/api/tickets`, {
      ...{ method: 'POST', headers: { Authorization: `Bearer ${token}` }, signal: AbortSignal.timeout(5_000) },
    })
    const told = (await reply.json()) as { ticket?: string; error?: string }
    if (reply.ok && told.ticket) return told.ticket
    reason = told.error ?? `it answered ${reply.status}`
  } catch (error) {
    reason = reasonOf(error)
  }
  throw new BatonError(`The server at ${url} gives no ticket: ${reason}.`, 'Start it again (baton serve), or see baton doctor.')
}

/** An address on a command line could be read by every user of the machine while the browser starts; a file cannot. */
const forwardTo = (address: string): string =>
  `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>Baton</title>` +
  `<meta http-equiv="refresh" content="0;url=${address}"><a href="${address}">Baton</a>\n`
