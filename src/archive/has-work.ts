import type { Store } from '../store/store.js'

/** Whether there is anything `finish` could do now. One look into the store, so that whoever may start a process for it can ask often. */
export function hasWork(store: Store, now: Date): boolean {
  const due = now.toISOString()
  return (
    store.openArchives().some(({ retryAt }) => (retryAt ?? '') <= due) ||
    store.leftovers().some((item) => !item.startsWith(STUCK))
  )
}

/** What could not be removed at the first try. It is tried again with whatever else is done, but calls for no work of its own. */
export const STUCK = 'stuck '
