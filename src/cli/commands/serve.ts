import { readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { loadConfig } from '../../config/load-config.js'
import type { Around } from '../../engine/around.js'
import { type House, openHouse } from '../../house.js'
import { BatonError, EXIT, reasonOf } from '../../lib/errors.js'
import { pageOf } from '../../page/page.js'
import { isLoopback } from '../../server/guard.js'
import { listen } from '../../server/listen.js'
import type { ServerParts } from '../../server/parts.js'
import { ownToken } from '../../server/token-file.js'
import { shownBy } from '../../shown.js'
import { VERSION } from '../../version.js'
import type { Call, Cli, Command } from '../command.js'
import { engineOf } from '../launcher-for.js'
import { handsOf } from '../serving/hands.js'
import { keepHouse } from '../serving/housekeeping.js'
import { makeKeeper } from '../serving/keeper.js'
import { pickUpJobs } from '../serving/pick-up-jobs.js'
import { portFrom } from '../serving/port.js'
import { runningServer } from '../serving/running-server.js'
import { takePlace } from '../serving/serve-lock.js'
import { untilStopped } from '../until-stopped.js'

const PORT = 8420

export const command: Command = {
  name: 'serve',
  summary: 'run the server, which makes hooks faster and answers other tools',
  usage: ['[--port N] [--host H] [--token-file F]'],
  about:
    'Runs in the foreground until Ctrl-C. Baton works without it; while it runs, hooks ask it instead of opening the store. ' +
    'When it starts, jobs that lost their runner go on, in a process of their own. ' +
    'It listens on 127.0.0.1 only; any other address needs a token, which every caller must then give.',
  options: {
    port: { type: 'string', value: 'N', about: `where to listen (default: BATON_PORT, else ${PORT}; 0: any free port)` },
    host: { type: 'string', value: 'H', about: 'the address to listen on (default: 127.0.0.1)' },
    'token-file': { type: 'string', value: 'F', about: 'a file with the token callers must give' },
  },
  words: { min: 0, max: 0 },
  examples: [
    ['baton serve', 'on 127.0.0.1:8420'],
    ['baton serve --port 0 --json', 'on any free port; the first line says which'],
    ['baton serve --host 0.0.0.0 --token-file ~/.baton-token', 'for other machines, with a token'],
  ],
  json: 'first line {url}',
  run,
}

async function run(call: Call, cli: Cli): Promise<number> {
  const port = portFrom(call.value('port'), cli.env, PORT)
  const host = call.value('host') ?? '127.0.0.1'
  const token = tokenFrom(call.value('token-file'), cli)
  if (!isLoopback(host) && token === null) throw openToAll(host)
  const keeper = makeKeeper(
    engineOf(cli),
    () => house.home,
    (...said) => house.log(...said),
  )
  const house: House = openHouse({
    ...{ env: cli.env, loadConfig, around: () => aroundIn(cli), now: cli.now, resident: true, leaveWork: keeper.leave },
  })
  const other = runningServer(house.home)
  const leave = takePlace(join(dirname(house.home.server), 'serving'), () => (other ? ` at http://127.0.0.1:${other.port}` : ''))
  try {
    const server = await listen(partsOf(house, cli), {
      ...{ host, port, token: token ?? ownToken(house.home.token), locked: token !== null, serverFile: house.home.server },
    })
    const stopped = untilStopped()
    cli.print(call.json ? JSON.stringify({ url: server.url }) : `Baton listens on ${server.url}. Ctrl-C ends it.`)
    const chores = keepHouse(house, keeper)
    pickUpJobs(house, cli)
    const replaced = storeReplaced(house.home.store)
    const end = await Promise.race([stopped, replaced.seen])
    replaced.stop()
    chores()
    keeper.stop()
    await server.close()
    if (end === 'replaced') {
      throw new BatonError(
        `The store ${house.home.store} was removed or replaced while the server used it.`,
        'Start baton serve again; meanwhile hooks work alone.',
      )
    }
  } finally {
    leave()
    house.close()
  }
  return EXIT.done
}

function partsOf(house: House, { env, program }: Cli): ServerParts {
  const rooms = pageOf(house, handsOf(house, env, process.argv[1]!))
  return { ...house, ...shownBy(house), rooms, web: join(program, 'web'), version: VERSION }
}

/** A store that was moved away would go on being written where nobody reads it. */
function storeReplaced(path: string): { seen: Promise<'replaced'>; stop(): void } {
  const first = statSync(path).ino
  let timer: NodeJS.Timeout | undefined
  const seen = new Promise<'replaced'>((resolve) => {
    timer = setInterval(() => {
      if (statSync(path, { throwIfNoEntry: false })?.ino !== first) resolve('replaced')
    }, 1_000)
  })
  return { seen, stop: () => clearInterval(timer) }
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

/** Most servers see a compaction a few times a day: what is done around one is loaded then, as in a hook. */
function aroundIn({ program }: Cli): Around {
  const load = createRequire(import.meta.url)
  return (load(join(program, 'hook-keep.cjs')) as { around: Around }).around
}
