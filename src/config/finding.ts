import type { ConfigProblem } from '../contract/policy.js'
import type { KeyPath } from '../lib/yaml-file.js'

/** A problem at a key, before its file and line are known. */
export interface ConfigFinding {
  path: KeyPath
  reason: string
  /** A function when the hint takes time to compute: only reported findings need theirs. */
  hint: string | (() => string)
}

/** The source of settings, to find the line of a key. */
export interface SourcePlace {
  file: string
  lineOf(path: KeyPath): number | null
}

export function problemAt(place: SourcePlace, { path, reason, hint }: ConfigFinding): ConfigProblem {
  const line = place.lineOf(path)
  const hintText = typeof hint === 'string' ? hint : hint()
  return { key: keyText(path), file: place.file, reason, hint: hintText, ...(line === null ? {} : { line }) }
}

/**
 * Formats the path of a key: `levels[2].at`. Keys with special characters are quoted:
 * `prices["claude-*"]`.
 */
export function keyText(path: KeyPath): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    if (!/^[\w-]+$/.test(step)) return `${text}[${JSON.stringify(step)}]`
    return text === '' ? step : `${text}.${step}`
  }, '')
}
