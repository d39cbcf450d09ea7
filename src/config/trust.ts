import { realpathSync, unlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { writeFileAtomic } from '../lib/atomic-file.js'
import { errorCodeOf } from '../lib/errors.js'
import { readNamedFile } from '../lib/named-file.js'
import { keepFolderPrivate } from '../lib/private-folder.js'
import { nameHash } from './compiled-copy.js'

/** The user's acceptance of exact bytes of one folder's `baton.yaml`. */
interface TrustRecord {
  version: 1
  /** Real path of the folder. */
  folder: string
  sha256: string
  trusted_at: string
}

/**
 * Limit of a record: a path has at most 4,096 bytes, each written in up to six characters of JSON.
 */
const LONGEST_RECORD = 32_768

/** Returns the real path of the folder of a project file. Null when it cannot be resolved. */
export function realFolderOf(projectFile: string): string | null {
  try {
    return realpathSync.native(dirname(projectFile))
  } catch {
    return null
  }
}

/**
 * Returns the hash of the project file that the user accepted for a folder.
 * Null when there is none. A record that another user owns or can write is ignored.
 * Every signal calls this, so it reads one small file and nothing else.
 */
export function acceptedHash(trustFolder: string, folder: string): string | null {
  const read = readNamedFile(recordPath(trustFolder, folder), { owner: 'this-user', most: LONGEST_RECORD })
  if ('refused' in read || (read.stats.mode & 0o022) !== 0) return null
  try {
    const record = JSON.parse(read.bytes.toString('utf8')) as TrustRecord
    // Two folders may share the name of the record file.
    // The folder trusted later has replaced the record, so the other folder is untrusted.
    return record.version === 1 && record.folder === folder && typeof record.sha256 === 'string' ? record.sha256 : null
  } catch {
    return null
  }
}

/** Stores that the user accepts these bytes in this folder. */
export function storeTrust(
  trustFolder: string,
  { folder, sha256 }: { folder: string; sha256: string },
  now: Date,
): void {
  keepFolderPrivate(trustFolder)
  const record: TrustRecord = { version: 1, folder, sha256, trusted_at: now.toISOString() }
  writeFileAtomic(recordPath(trustFolder, folder), `${JSON.stringify(record)}\n`, { mode: 0o600 })
}

/** Withdraws the trust in a folder's file. False when there was none. */
export function removeTrust(trustFolder: string, folder: string): boolean {
  if (acceptedHash(trustFolder, folder) === null) return false
  try {
    unlinkSync(recordPath(trustFolder, folder))
    return true
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return false
    throw error
  }
}

function recordPath(trustFolder: string, folder: string): string {
  return join(trustFolder, `${nameHash(folder)}.json`)
}
