import { readdirSync, rmdirSync, unlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { BriefRecord } from '../contract/records/brief.js'
import { removeLeftovers, syncFolder } from '../lib/atomic-file.js'
import { BatonError, errorCodeOf, reasonOf } from '../lib/errors.js'
import { readNamedFile } from '../lib/named-file.js'
import { readFrontMatter } from './front-matter.js'
import { briefFileStem } from './keep-file.js'

/** Bytes read of a file to find its front matter. */
const FRONT_MATTER_BYTES = 64 * 1024

interface ForgetRequest {
  /** Deletes all briefs of this seat; with a session, only that session's. */
  seatId?: string
  sessionId?: string
  /** Briefs known to the store, deleted whatever their content is. */
  briefs?: readonly Pick<BriefRecord, 'path' | 'addenda'>[]
}

/**
 * Deletes briefs with their addenda, and temporary files of killed writers.
 * Briefs unknown to the store are found by their front matter.
 * Nothing outside the folder is touched, nor a file with another name. Returns the deleted paths.
 * Throws a BatonError when a file cannot be deleted.
 */
export function forgetBriefs(folder: string, { seatId, sessionId, briefs = [] }: ForgetRequest): string[] {
  const named = new Set(
    briefs.flatMap(({ path, addenda }) => [path, ...addenda.map((one) => one.path)]).map((path) => resolve(path)),
  )
  const removed: string[] = []
  for (const seat of namesIn(folder, 'folders')) {
    const place = resolve(folder, seat)
    const chosen = (seatId ?? sessionId) !== undefined && (seatId ?? seat) === seat
    const isChosen = (name: string): boolean =>
      named.has(join(place, name)) ||
      (chosen && (sessionId === undefined || sessionIn(join(place, name)) === sessionId))
    removeLeftovers(place)
    const names = namesIn(place, 'files').filter((name) => briefFileStem(name) !== null)
    const stems = new Set(names.filter(isChosen).map(briefFileStem))
    const gone = names.filter((name) => stems.has(briefFileStem(name))).map((name) => join(place, name))
    for (const path of gone) deleteFile(path)
    if (gone.length > 0) removeEmptyFolder(place)
    removed.push(...gone)
  }
  if (removed.length > 0) syncFolder(folder)
  return removed
}

function sessionIn(path: string): string | null {
  const read = readNamedFile(path, { owner: 'anyone', most: FRONT_MATTER_BYTES })
  return 'refused' in read ? null : (readFrontMatter(read.bytes.toString('utf8')).origin?.sessionId ?? null)
}

function namesIn(folder: string, what: 'files' | 'folders'): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.filter((entry) => (what === 'files' ? entry.isFile() : entry.isDirectory())).map(({ name }) => name)
  } catch (error) {
    if (errorCodeOf(error) === 'ENOENT') return []
    throw deleteError(folder, error)
  }
}

function deleteFile(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (errorCodeOf(error) !== 'ENOENT') throw deleteError(path, error)
  }
}

/** Removes the folder of a seat without briefs. */
function removeEmptyFolder(place: string): void {
  syncFolder(place)
  try {
    rmdirSync(place)
  } catch {
    return // something else is in it
  }
}

function deleteError(path: string, error: unknown): BatonError {
  return new BatonError(`${path} cannot be removed (${reasonOf(error)}).`, 'Check the owner and mode of its folder.')
}
