import type { Store } from '../store/store.js'

/**
 * True when `finish` has something to do now.
 * Costs one query, so that hooks may ask before they start a process for it.
 */
export function hasWork(store: Store, now: Date): boolean {
  const due = now.toISOString()
  return (
    store.openArchives().some(({ retryAt }) => (retryAt ?? '') <= due) ||
    store.leftovers().some((item) => !item.startsWith(STUCK_PREFIX))
  )
}

/**
 * Prefix of leftovers that could not be deleted at the first try.
 * They are retried along with other work but do not start a process of their own.
 */
export const STUCK_PREFIX = 'stuck '
