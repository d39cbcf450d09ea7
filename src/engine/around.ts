import type { Event } from '../contract/event.js'
import type { Signal } from '../contract/signal.js'
import type { Store } from '../store/store.js'
import { catchUp } from './catch-up.js'
import type { Draft, Parts } from './draft.js'
import { type KeepDesk, keepBefore, keptForNothing, readAhead, recoverFirst, recoverSecond } from './keeping.js'
import type { Readers, ReadFacts } from './read-facts.js'

/** Everything around compactions that reads transcripts, in one piece, so that a hook can leave it unloaded. */
export interface Around {
  readAhead(store: Store, signal: Signal): ReadFacts | null
  keepBefore(draft: Draft, trigger: 'auto' | 'manual'): void
  /** `summary`: where it is known already, what it lacks is put back in the same breath. */
  recoverFirst(desk: KeepDesk, summary: string | null): void
  recoverSecond(desk: KeepDesk, summary: string | null): void
  keptForNothing(desk: KeepDesk, outcome: string): void
  catchUp(parts: Parts): Event[]
}

export function makeAround(readers: Readers): Around {
  return {
    readAhead: (store, signal) => readAhead(readers, store, signal),
    keepBefore,
    recoverFirst: (desk, summary) => recoverFirst(readers, desk, summary),
    recoverSecond: (desk, summary) => recoverSecond(readers, desk, summary),
    keptForNothing,
    catchUp: (parts) => catchUp(readers, parts),
  }
}
