import { createHash } from 'node:crypto'
import { existsSync, lstatSync, readdirSync, statSync } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import type { PluginModuleFile } from '../agents/installer.js'
import { InstallProblem } from '../agents/shared/install-problem.js'
import type { IdentifyProgram } from '../agents/shared/launcher-call.js'
import { MODULE_MARKER_FILE } from '../agents/shared/mod-marker.js'
import { isLeftover, readIfThere, realTarget } from '../lib/atomic-file.js'
import { errorCodeOf, reasonOf } from '../lib/errors.js'
import { quoteForShell } from '../lib/shell-words.js'
import { installFiles } from './home-files.js'
import { missingFolders } from './made-folders.js'
import type { FoundMod } from './mod-folder.js'
import type { FoundSettings } from './plan.js'
import { readRecord } from './record.js'
import type { EarlierInstall } from './without-baton.js'

/** Reads a settings file for the planners. Changes nothing. */
export function lookAtSettings(path: string): FoundSettings {
  const real = realTarget(path)
  const stat = follow(real)
  if (stat && !stat.isFile())
    throw new InstallProblem(
      path,
      'the path is not a file',
      `Run mv ${quoteForShell(path)} ${quoteForShell(`${path}.old`)} and try again.`,
    )
  return {
    path,
    key: pathKey(path),
    bytes: stat ? read(real) : null,
    mode: stat ? stat.mode & 0o7777 : null,
    missingFolders: missingFolders(dirname(real)),
  }
}

/** Returns a short key of a path, the same for every spelling of the path. */
export function pathKey(path: string): string {
  return createHash('sha256').update(realTarget(path)).digest('hex').slice(0, 12)
}

export function lookAtEarlier(home: string, key: string): EarlierInstall {
  const files = installFiles(home, key)
  const recordText = read(files.record)?.toString() ?? null
  const record = recordText === null ? null : readRecord(recordText)
  const backup = record?.before ? (read(record.before.backup) ?? null) : null
  const intact = backup !== null && createHash('sha256').update(backup).digest('hex') === record?.before?.sha256
  const damaged = recordText !== null && record === null
  return {
    record,
    recordText,
    before: intact ? backup : null,
    formerOf: (of) => (/^[0-9a-f]{12}$/.test(of) ? (read(installFiles(home, of).former)?.toString() ?? null) : null),
    notes: damaged ? [`${files.record} is damaged, so the settings before the first install are unknown.`] : [],
  }
}

/** Returns the keys of all settings files in which this home is installed. */
export function recordedKeys(home: string): string[] {
  try {
    return readdirSync(installFiles(home, '').records).flatMap((name) => /^([0-9a-f]{12})\.json$/.exec(name)?.[1] ?? [])
  } catch {
    return []
  }
}

export function lookAtMod(path: string, files: PluginModuleFile[]): FoundMod {
  const stat = unlessHidden(() => lstatSync(path, { throwIfNoEntry: false }))
  const marker = stat?.isDirectory() ? markedFiles(read(join(path, MODULE_MARKER_FILE))?.toString()) : null
  const listed = marker ?? []
  const names = [MODULE_MARKER_FILE, ...files.map((f) => f.path), ...listed]
  return {
    path,
    state: marker ? 'ours' : !stat || isUnused(path) ? 'absent' : 'foreign',
    texts: Object.fromEntries(marker ? names.map((n) => [n, read(join(path, n))?.toString() ?? null]) : []),
    listed,
    missingFolders: missingFolders(dirname(path)),
  }
}

/**
 * Returns whether a folder is empty.
 * A run that was killed before it wrote the marker leaves such a folder.
 */
function isUnused(path: string): boolean {
  return lstatSync(path).isDirectory() && readdirSync(path).every(isLeftover)
}

/**
 * Returns the launcher's text. '' when it exists but is not executable, null when it is missing.
 */
export function lookAtLauncher(path: string): string | null {
  const stat = follow(path)
  if (!stat) return null
  return stat.mode & 0o100 ? (read(path)?.toString() ?? null) : ''
}

export function launcherIdentity(launcher: string): IdentifyProgram {
  const own = realTarget(launcher)
  return (path) => {
    if (!isAbsolute(path)) return 'foreign'
    if (realTarget(path) === own) return 'ours'
    if (basename(path) !== 'hook' || basename(dirname(path)) !== 'bin') return 'foreign'
    return existsSync(path) ? 'other-home' : 'gone'
  }
}

/**
 * Returns the files listed by our marker.
 * Null when the text is not our marker.
 * Skips paths that lead out of the folder.
 */
function markedFiles(text: string | undefined): string[] | null {
  try {
    const { by, files } = JSON.parse(text ?? '')
    if (by !== 'baton') return null
    return Array.isArray(files)
      ? files.filter((f) => typeof f === 'string' && !isAbsolute(f) && !f.split('/').includes('..'))
      : []
  } catch {
    return null
  }
}

const follow = (path: string) => unlessHidden(() => statSync(path, { throwIfNoEntry: false }))

/**
 * Runs `look`.
 * Undefined when a file is in the place of a parent folder, so that nothing can exist below it.
 */
function unlessHidden<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch (error) {
    if (errorCodeOf(error) === 'ENOTDIR') return undefined
    throw error
  }
}

function read(path: string): Buffer | null {
  try {
    return readIfThere(path)
  } catch (error) {
    throw new InstallProblem(
      path,
      `the file cannot be read: ${reasonOf(error)}`,
      `Run chmod u+r ${quoteForShell(path)} and try again.`,
    )
  }
}
