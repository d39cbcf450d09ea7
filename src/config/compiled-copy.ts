import { mkdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ConfigProblem, ProjectFile } from '../contract/policy.js'
import type { CompiledConfig } from './compiled.js'

/** What is kept beside the files so that the hook needs no YAML: the last good configuration, and what is wrong with the files now. */
export interface CompiledCopy {
  /**
   * Raised when the same files mean something else than before: 2 with trust in project files, 3 with
   * `status_line` and `85% or 300k`, which were refused, 4 with `notify`, which did nothing.
   */
  version: 4
  /** The files, their state and the trust in the project's file for which this copy speaks. */
  mark: string
  /** True: `config` is the last good one. False: there was none yet, and `config` leaves out the files with problems. */
  good: boolean
  config: CompiledConfig
  problems: ConfigProblem[]
  /** The project's file as it is now; null without one. */
  project: ProjectFile | null
  /** The hash of the trusted project file that `config` holds; null when it holds none. */
  trusted: string | null
}

/** null: there is no copy, or none that can be used. A damaged copy is not worth a word: it is made again. */
export function readCompiled(folder: string, paths: readonly string[]): CompiledCopy | null {
  try {
    const copy = JSON.parse(readFileSync(copyPath(folder, paths), 'utf8')) as CompiledCopy
    const usable =
      copy.version === 4 &&
      copy.config?.version === 1 &&
      Array.isArray(copy.config.layers) &&
      Array.isArray(copy.problems)
    return usable && copy.mark.startsWith(namesMark(paths)) ? copy : null
  } catch {
    return null
  }
}

/** False when it cannot be written (a read-only home): then every process compiles for itself. */
export function writeCompiled(folder: string, paths: readonly string[], copy: CompiledCopy): boolean {
  const path = copyPath(folder, paths)
  const fresh = `${path}.${process.pid}.${Math.random().toString(36).slice(2, 10)}`
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeFileSync(fresh, JSON.stringify(copy), { mode: 0o600, flag: 'wx' })
    renameSync(fresh, path)
    return true
  } catch {
    discard(fresh)
    return false
  }
}

function discard(path: string): void {
  try {
    unlinkSync(path)
  } catch {
    return
  }
}

/** Identifies the files by name: two projects whose hashes meet must not share a copy. */
export function namesMark(paths: readonly string[]): string {
  return `${JSON.stringify(paths)}|`
}

export function copyPath(folder: string, paths: readonly string[]): string {
  return join(folder, `${nameHash(paths.join('\0'))}.json`)
}

/** FNV-1a, twice with different seeds. Enough to name a file, and spares the hook's path the crypto module. */
export function nameHash(text: string): string {
  let a = 0x811c9dc5
  let b = 0x01000193
  for (let i = 0; i < text.length; i++) {
    a = Math.imul(a ^ text.charCodeAt(i), 0x01000193)
    b = Math.imul(b ^ text.charCodeAt(i), 0x85ebca6b)
  }
  return (a >>> 0).toString(16).padStart(8, '0') + (b >>> 0).toString(16).padStart(8, '0')
}
