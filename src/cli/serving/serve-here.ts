import { statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { loadConfig } from '../../config/load-config.js'
import type { Around } from '../../engine/around.js'
import { type House, openHouse } from '../../house.js'
import { BatonError, EXIT } from '../../lib/errors.js'
import { listen } from '../../server/listen.js'
import type { ServerInput } from '../../server/parts.js'
import { ownToken } from '../../server/token-file.js'
import { shownBy } from '../../shown.js'
import { VERSION } from '../../version.js'
import type { Cli } from '../command.js'
import { engineOf } from '../launcher-for.js'
import { untilStopped } from '../until-stopped.js'
import { checkDoors } from './doors.js'
import { keepHouse } from './housekeeping.js'
import { makeKeeper } from './keeper.js'
import { pickUpJobs } from './pick-up-jobs.js'
import { runningServer } from './running-server.js'
import { takePlace } from './serve-lock.js'

export interface ServeWish {
  host: string
  port: number
  /** A file with the token everybody must give; null: words and changes need Baton's own, figures none. */
  tokenFile: string | null
  /** Called once it can be asked. */
  listening(at: { url: string; token: string }): void | Promise<void>
}

/** Serves in the foreground until a signal ends it. Returns the exit code. */
export async function serveHere(cli: Cli, { host, port, tokenFile, listening }: ServeWish): Promise<number> {
  const theirs = checkDoors(host, tokenFile, cli)
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
  const ending = new AbortController()
  // In the order they began; they end the other way round, however it comes to that.
  const begun: (() => void | Promise<void>)[] = [() => house.close(), leave]
  try {
    const token = theirs ?? ownToken(house.home.token)
    const server = await listen(partsOf(house, cli, ending.signal), {
      ...{ host, port, token, locked: theirs !== null, serverFile: house.home.server },
    })
    begun.push(
      () => server.close(),
      () => ending.abort(),
      () => keeper.stop(),
    )
    const stopped = untilStopped()
    await listening({ url: server.url, token })
    begun.push(keepHouse(house, keeper))
    pickUpJobs(house, cli)
    const replaced = storeReplaced(house.home.store)
    begun.push(replaced.stop)
    if ((await Promise.race([stopped, replaced.seen])) === 'replaced') {
      throw new BatonError(
        `The store ${house.home.store} was removed or replaced while the server used it.`,
        'Start baton serve again; meanwhile hooks work alone.',
      )
    }
  } finally {
    for (const end of begun.reverse()) await end()
  }
  return EXIT.done
}

function partsOf(house: House, { env, program }: Cli, ending: AbortSignal): ServerInput {
  const openRooms = async () => {
    const [{ pageOf }, { handsOf }] = await Promise.all([import('../../page/page.js'), import('./hands.js')])
    return pageOf(house, handsOf(house, env, process.argv[1]!, ending))
  }
  return { ...house, ...shownBy(house), openRooms, web: join(program, 'web'), version: VERSION }
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

/** Most servers see a compaction a few times a day: what is done around one is loaded then, as in a hook. */
function aroundIn({ program }: Cli): Around {
  const load = createRequire(import.meta.url)
  return (load(join(program, 'hook-keep.cjs')) as { around: Around }).around
}
