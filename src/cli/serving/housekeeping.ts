import { tidyWaiters } from '../../agents/claude-code/waiter.js'
import { hasWork } from '../../archive/has-work.js'
import { wantedBriefs } from '../../engine/late-work.js'
import { placesOf, tidyDaily } from '../../hook/tidy.js'
import type { House } from '../../house.js'
import { reasonOf } from '../../lib/errors.js'
import { isRunning } from '../../lib/process-info.js'
import { drain } from '../open-house.js'
import type { Keeper } from './keeper.js'

const DRAIN_MS = 3_000
const KEEP_MS = 10 * 60_000
const TIDY_MS = 3_600_000
const FIRST_TIDY_MS = 60_000

/** What came while no server ran is taken now; what a hook could not hand over is taken soon; once a day the house is tidied. */
export function keepHouse(house: House, keeper: Pick<Keeper, 'leave'>): () => void {
  drain(house)
  const keep = (): void => {
    if (isWorkLeft(house)) keeper.leave()
  }
  keep()
  const timers = [
    setInterval(() => drain(house, { youngestMs: 2_000 }), DRAIN_MS),
    setInterval(() => tidyHouse(house), TIDY_MS),
    setInterval(keep, KEEP_MS),
    setTimeout(() => tidyHouse(house), FIRST_TIDY_MS),
  ]
  return () => timers.forEach(clearTimeout)
}

/** Archives to be written, transcripts to be read, briefs to be written: whoever was to do it may have died. */
export function isWorkLeft({ store, now }: Pick<House, 'store' | 'now'>): boolean {
  return hasWork(store, now()) || store.openCompactions().length > 0 || wantedBriefs(store, now()).length > 0
}

/** While a server runs no hook does it. */
export function tidyHouse(house: Pick<House, 'store' | 'home' | 'now' | 'log'>): void {
  const { store, home, now } = house
  try {
    if (tidyDaily(store, placesOf(home), now())) tidyWaiters(home.live, now(), isRunning)
  } catch (error) {
    house.log('warn', 'the house could not be tidied', { reason: reasonOf(error) })
  }
}
