import type { ConfigProblem } from '../contract/policy.js'
import type { KeyPath } from '../lib/yaml-file.js'

/** Something wrong at a key, before it is known in which file and on which line. */
export interface Finding {
  path: KeyPath
  reason: string
  /** A function when the hint takes time to find: only findings that are reported need theirs. */
  hint: string | (() => string)
}

/** Where settings were written. */
export interface Place {
  file: string
  lineOf(path: KeyPath): number | null
}

export function problemAt(place: Place, { path, reason, hint }: Finding): ConfigProblem {
  const line = place.lineOf(path)
  const hintText = typeof hint === 'string' ? hint : hint()
  return { key: keyText(path), file: place.file, reason, hint: hintText, ...(line === null ? {} : { line }) }
}

/** `levels[2].at`. A key with other than plain characters is quoted: `prices["claude-*"]`. */
export function keyText(path: KeyPath): string {
  return path.reduce<string>((text, step) => {
    if (typeof step === 'number') return `${text}[${step}]`
    if (!/^[\w-]+$/.test(step)) return `${text}[${JSON.stringify(step)}]`
    return text === '' ? step : `${text}.${step}`
  }, '')
}
