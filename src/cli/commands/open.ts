import { BatonError, EXIT } from '../../lib/errors.js'
import { batonHome } from '../../lib/home.js'
import type { Call, Cli, Command } from '../command.js'
import { PORT, portFrom } from '../serving/port.js'
import { runningServer } from '../serving/running-server.js'
import { type Shown, showPage } from '../serving/show-page.js'

export const command: Command = {
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
    port: { type: 'string', value: 'N', about: `where to listen if no server runs (default: BATON_PORT, else ${PORT})` },
  },
  words: { min: 0, max: 0 },
  examples: [
    ['baton open', 'the page in your browser'],
    ['baton open --print', 'an address to copy, say over SSH with a forwarded port'],
  ],
  json: 'first line {url}; with --print the address that lets one browser in',
  run,
}

const noServer = (): BatonError =>
  new BatonError(
    'No server runs, so there is no address to print.',
    'Start one first: baton serve, or baton serve install to have one whenever you log in.',
    EXIT.notFound,
  )

async function run(call: Call, cli: Cli): Promise<number> {
  const port = portFrom(call.value('port'), cli.env, PORT)
  const show = (shown: Shown) => showPage(cli, { ...shown, print: call.flag('print'), json: call.json })
  const home = batonHome(cli.env)
  const running = runningServer(home)
  if (running) return show({ url: `http://127.0.0.1:${running.port}`, token: running.token, home, stays: false })
  // Who calls it in a script waits for its end, which would never come.
  if (call.flag('print') && (call.json || !cli.screen.terminal)) throw noServer()
  const { serveHere } = await import('../serving/serve-here.js')
  return serveHere(cli, {
    ...{ host: '127.0.0.1', port, tokenFile: null },
    listening: async ({ url, token }) => void (await show({ url, token, home, stays: true })),
  })
}
