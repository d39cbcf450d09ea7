import { join } from 'node:path'

/** What install keeps in Baton's home, beside the store. */
export function homeFiles(home: string, key: string) {
  return {
    launcher: join(home, 'bin', 'hook'),
    bin: join(home, 'bin'),
    /** The status line the user had, run by the launcher behind ours. */
    former: join(home, 'former', key),
    formers: join(home, 'former'),
    record: join(home, 'installed', `${key}.json`),
    records: join(home, 'installed'),
    backups: join(home, 'backups', key),
    lock: join(home, 'install.lock'),
  }
}

/** Sorts by time; the same bytes at the same moment give the same name, so no backup is ever written over. */
export function backupName(now: Date, sha256: string): string {
  return `${now.toISOString().replace(/[-:.]/g, '')}-${sha256.slice(0, 8)}.json`
}
