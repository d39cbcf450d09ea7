import { around } from '../around.js'
import { loadConfig } from '../config/load-config.js'
import type { SessionRecord } from '../contract/record.js'
import { type House, openHouse } from '../house.js'
import { BatonError, EXIT } from '../lib/errors.js'
import * as forgetting from '../store/sqlite/forget-words.js'
import type { Cli } from './command.js'
import { engineOf } from './launcher-for.js'
import { makeKeeper, startDriver, startKeeping } from './serving/keeper.js'

/** Opens the house for one command, with everything taken that hooks left in the spool, and closes it afterwards. */
export async function inHouse<T>(
  cli: Cli,
  work: (house: House) => T | Promise<T>,
  /** `keeps`: what is left to be done for transcripts is done by a process that this command starts, not by whoever comes next. */
  { keeps, ...options }: { configMs?: number; busyMs?: number; keeps?: boolean } = {},
): Promise<T> {
  const keeper = keeps
    ? makeKeeper(
        engineOf(cli),
        () => house.home,
        (...said) => house.log(...said),
      )
    : null
  let isLeft = false
  const leaveWork = (work?: 'handoff'): void => {
    if (work === 'handoff') startDriver(engineOf(cli), house.home)
    else if (keeper) keeper.leave()
    else isLeft = true
  }
  const house: House = openHouse({
    env: cli.env,
    loadConfig,
    around: () => around,
    now: cli.now,
    leaveWork,
    forgetting,
    ...options,
  })
  try {
    // A hook's engine would wait for a transcript that lags: who takes its signal must too.
    drain(house, { wait: true })
    return await work(house)
  } finally {
    house.close()
    if (isLeft) startKeeping(engineOf(cli), house.home)
  }
}

/** A signal that cannot be taken must not keep a person from reading what is there. */
export function drain(house: House, options: Parameters<House['drain']>[0] = {}): void {
  try {
    house.drain(options)
  } catch (error) {
    house.log('warn', 'the spool could not be taken', { reason: String(error) })
  }
}

/** A session by id or its beginning, or the newest of a seat. Throws when there is none, or when several begin so. */
export function sessionNamed(house: House, id: string): SessionRecord {
  const found = house.find(id)
  if (found) return found
  const alike = house.store.sessions().filter((record) => record.sessionId.startsWith(id) || record.seatId.startsWith(id))
  if (alike.length > 1 && id.length >= 4) {
    const names = alike.slice(0, 4).map((record) => record.sessionId.slice(0, 12))
    throw new BatonError(
      `${alike.length} sessions begin with "${id}".`,
      `Give more of the id: ${names.join(', ')}${alike.length > 4 ? ', …' : ''}.`,
      EXIT.usage,
    )
  }
  const short = id.length < 4 && alike.length > 0 ? 'Give at least four characters of the id. ' : ''
  throw new BatonError(`There is no session or seat "${id}".`, `${short}baton status --all lists them.`, EXIT.notFound)
}
