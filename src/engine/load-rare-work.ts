import type { EngineDependencies } from './context.js'
import type * as module from './rare-work.js'

export type RareWork = typeof module

/**
 * Loads the part of the engine that only compactions and handoffs need.
 * Returns the exports of `rare-work.ts`.
 */
export function rareWork({ loadRareWork }: Pick<EngineDependencies, 'loadRareWork'>): RareWork {
  return loadRareWork() as RareWork
}
