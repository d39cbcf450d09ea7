import { readdirSync, rmdirSync, unlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { BriefRecord } from '../contract/records/brief.js'
import { removeLeftovers, syncFolder } from '../lib/atomic-file.js'
import { BatonError, codeOf, reasonOf } from '../lib/errors.js'
import { readNamedFile } from '../lib/named-file.js'
import { readFrontMatter } from './front-matter.js'
import { stemOf } from './keep-file.js'

/** More than any front matter is long. */
const HEAD = 64 * 1024

export interface Forgotten {
  /** All of this seat; with a session, that one's alone. */
  seatId?: string
  sessionId?: string
  /** Named by the store: they go whatever stands in them. */
  briefs?: readonly Pick<BriefRecord, 'path' | 'addenda'>[]
}

/**
 * Removes briefs with their addenda, and what killed writers left. Those the store does not know are found by what stands in them.
 * Nothing outside the folder is touched, nor a file of another name in it. Returns what was removed; throws a BatonError at what cannot be.
 */
export function forgetBriefs(folder: string, { seatId, sessionId, briefs = [] }: Forgotten): string[] {
  const named = new Set(
    briefs.flatMap(({ path, addenda }) => [path, ...addenda.map((one) => one.path)]).map((path) => resolve(path)),
  )
  const removed: string[] = []
  for (const seat of namesIn(folder, 'folders')) {
    const place = resolve(folder, seat)
    const chosen = (seatId ?? sessionId) !== undefined && (seatId ?? seat) === seat
    const goes = (name: string): boolean =>
      named.has(join(place, name)) ||
      (chosen && (sessionId === undefined || sessionIn(join(place, name)) === sessionId))
    removeLeftovers(place)
    const names = namesIn(place, 'files').filter((name) => stemOf(name) !== null)
    const stems = new Set(names.filter(goes).map(stemOf))
    const gone = names.filter((name) => stems.has(stemOf(name))).map((name) => join(place, name))
    for (const path of gone) remove(path)
    if (gone.length > 0) leave(place)
    removed.push(...gone)
  }
  if (removed.length > 0) syncFolder(folder)
  return removed
}

function sessionIn(path: string): string | null {
  const read = readNamedFile(path, { owner: 'anyone', most: HEAD })
  return 'refused' in read ? null : (readFrontMatter(read.bytes.toString('utf8')).origin?.sessionId ?? null)
}

function namesIn(folder: string, what: 'files' | 'folders'): string[] {
  try {
    const entries = readdirSync(folder, { withFileTypes: true })
    return entries.filter((entry) => (what === 'files' ? entry.isFile() : entry.isDirectory())).map(({ name }) => name)
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    throw trouble(folder, error)
  }
}

function remove(path: string): void {
  try {
    unlinkSync(path)
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw trouble(path, error)
  }
}

/** A seat without briefs has no folder. */
function leave(place: string): void {
  syncFolder(place)
  try {
    rmdirSync(place)
  } catch {
    return // something else is in it
  }
}

function trouble(path: string, error: unknown): BatonError {
  return new BatonError(`${path} cannot be removed (${reasonOf(error)}).`, 'Check the owner and mode of its folder.')
}
