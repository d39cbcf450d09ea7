import { mkdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ConfigProblem, ProjectFile } from '../contract/policy.js'
import type { CompiledConfig } from './compiled.js'

/**
 * The last good configuration in compiled form, and the current problems of the files.
 * This copy is stored beside the files, so that hooks need no YAML library.
 */
export interface CompiledCopy {
  /**
   * Raised when the same files get another meaning. 2: project files need trust.
   * 3: `status_line` and `85% or 300k` were refused before. 4: `notify` had no effect before.
   */
  version: 4
  /**
   * Identifies the state of the files, and the trust in the project's file, that this copy is for.
   */
  mark: string
  /**
   * True when `config` is the last good one.
   * False when no configuration was good; `config` then omits the files with problems.
   */
  good: boolean
  config: CompiledConfig
  problems: ConfigProblem[]
  /** The project's file as it is now. Null when there is none. */
  project: ProjectFile | null
  /** Hash of the trusted project file that `config` includes. Null when it includes none. */
  trusted: string | null
}

/** Reads the compiled copy. Null when there is none or it is damaged; it is then compiled again. */
export function readCompiledCopy(folder: string, paths: readonly string[]): CompiledCopy | null {
  try {
    const copy = JSON.parse(readFileSync(compiledCopyPath(folder, paths), 'utf8')) as CompiledCopy
    const usable =
      copy.version === 4 &&
      copy.config?.version === 1 &&
      Array.isArray(copy.config.layers) &&
      Array.isArray(copy.problems)
    return usable && copy.mark.startsWith(fileListKey(paths)) ? copy : null
  } catch {
    return null
  }
}

/** Stores the compiled copy. False in a read-only home, where every process compiles for itself. */
export function writeCompiledCopy(folder: string, paths: readonly string[], copy: CompiledCopy): boolean {
  const path = compiledCopyPath(folder, paths)
  const fresh = `${path}.${process.pid}.${Math.random().toString(36).slice(2, 10)}`
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(fresh, JSON.stringify(copy), { mode: 0o600, flag: 'wx' })
    renameSync(fresh, path)
    return true
  } catch {
    removeQuietly(fresh)
    return false
  }
}

function removeQuietly(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    return
  }
}

/** Identifies the files by name, because two projects with the same hash must not share a copy. */
export function fileListKey(paths: readonly string[]): string {
  return `${JSON.stringify(paths)}|`
}

export function compiledCopyPath(folder: string, paths: readonly string[]): string {
  return join(folder, `${nameHash(paths.join('\0'))}.json`)
}

/** FNV-1a, twice with different seeds: enough to name a file, without loading the crypto module. */
export function nameHash(text: string): string {
  let a = 0x811c9dc5
  let b = 0x01000193
  for (let i = 0; i < text.length; i++) {
    a = Math.imul(a ^ text.charCodeAt(i), 0x01000193)
    b = Math.imul(b ^ text.charCodeAt(i), 0x85ebca6b)
  }
  return (a >>> 0).toString(16).padStart(8, '0') + (b >>> 0).toString(16).padStart(8, '0')
}
