import type { Database, Statement } from './driver.js'

/**
 * What a long-lived process has read, kept as long as nobody else writes. SQLite's `data_version` changes with every commit
 * of another connection, so one look at the beginning of a transaction tells whether all of it still holds.
 * Records are handed out as they are kept: nobody changes one in place.
 */
export interface Memory {
  /** Called when a transaction begins. */
  check(): void
  recall<T>(key: string, read: () => T): T
  keep(key: string, value: unknown): void
  drop(key: string): void
  forget(): void
}

const MOST = 20_000

export function makeMemory(db: Database): Memory {
  const kept = new Map<string, unknown>()
  const look: Statement = db.prepare('PRAGMA data_version')
  let version = -1
  return {
    check() {
      const now = (look.get() as { data_version: number }).data_version
      if (now !== version || kept.size > MOST) kept.clear()
      version = now
    },
    recall(key, read) {
      if (kept.has(key)) return kept.get(key) as ReturnType<typeof read>
      const value = read()
      kept.set(key, value)
      return value
    },
    keep(key, value) {
      kept.set(key, value)
    },
    drop(key) {
      kept.delete(key)
    },
    forget() {
      kept.clear()
    },
  }
}

/** For processes that live for one signal: remembering would cost more than it saves. */
export const NO_MEMORY: Memory = {
  check() {},
  recall: (_key, read) => read(),
  keep() {},
  drop() {},
  forget() {},
}
