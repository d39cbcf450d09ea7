import type { Store } from '../store/store.js'

/**
 * True when `finish` has something to do now.
 * Costs one query, so a hook may ask before it starts a process for the work.
 */
export function hasArchiveWork(store: Store, now: Date): boolean {
  const due = now.toISOString()
  return (
    store.openArchives().some(({ retryAt }) => (retryAt ?? '') <= due) ||
    store.leftovers().some((item) => !item.startsWith(STUCK_PREFIX))
  )
}

/**
 * Prefix of leftovers that could not be deleted at the first try.
 * The deletion of leftovers is retried along with other work, never in a process of its own.
 */
export const STUCK_PREFIX = 'stuck '
