import { join } from 'node:path'

/** Returns the paths of install's files in Baton's home, beside the store. */
export function installFiles(home: string, key: string) {
  return {
    launcher: join(home, 'bin', 'hook'),
    bin: join(home, 'bin'),
    /** The user's former status line, which the launcher runs after ours. */
    former: join(home, 'former', key),
    formers: join(home, 'former'),
    record: join(home, 'installed', `${key}.json`),
    records: join(home, 'installed'),
    backups: join(home, 'backups', key),
    lock: join(home, 'install.lock'),
  }
}

/**
 * Returns a name that sorts by time and contains the hash, so that no backup is ever overwritten.
 */
export function backupName(now: Date, sha256: string): string {
  return `${now.toISOString().replace(/[-:.]/g, '')}-${sha256.slice(0, 8)}.json`
}
