import type { Database, Statement } from './driver.js'

/**
 * Cache of records for a long-lived process, valid until another process writes.
 * SQLite's `data_version` changes with every commit of another connection.
 * Reading it at the start of a transaction thus tells whether the cache is still valid.
 * Cached records are returned without a copy. Callers must not modify them.
 */
export interface RecordCache {
  /** Clears the cache if another process has written. Called when a transaction begins. */
  clearIfStale(): void
  getOrRead<T>(key: string, read: () => T): T
  set(key: string, value: unknown): void
  drop(key: string): void
  clear(): void
}

const MAX_RECORDS = 20_000

export function makeRecordCache(db: Database): RecordCache {
  const records = new Map<string, unknown>()
  const dataVersion: Statement = db.prepare('PRAGMA data_version')
  let version = -1
  return {
    clearIfStale() {
      const now = (dataVersion.get() as { data_version: number }).data_version
      if (now !== version || records.size > MAX_RECORDS) records.clear()
      version = now
    },
    getOrRead(key, read) {
      if (records.has(key)) return records.get(key) as ReturnType<typeof read>
      const value = read()
      records.set(key, value)
      return value
    },
    set(key, value) {
      records.set(key, value)
    },
    drop(key) {
      records.delete(key)
    },
    clear() {
      records.clear()
    },
  }
}

/** Used by processes that live for one signal, where caching costs more than it saves. */
export const NO_CACHE: RecordCache = {
  clearIfStale() {},
  getOrRead: (_key, read) => read(),
  set() {},
  drop() {},
  clear() {},
}
