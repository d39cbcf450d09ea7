/** A fault that a check of `baton doctor` found. */
export interface Fault {
  /** The fault, in one sentence. */
  detail: string
  /** Advice to the user. For a fault with `repair`, what `baton doctor --fix` does. */
  fix: string
  /**
   * Repairs the fault. May throw.
   * A repair must not override a choice of the user or touch data.
   */
  repair?: () => void | Promise<void>
}

/** The result of one check of `baton doctor`. */
export interface Finding {
  /** Details besides the faults: numbers, versions, paths. */
  summary: string
  faults: Fault[]
}

export const noFaults = (summary: string): Finding => ({ summary, faults: [] })
export const oneFault = (detail: string, fix: string, repair?: Fault['repair']): Finding => ({
  summary: '',
  faults: [{ detail, fix, ...(repair ? { repair } : {}) }],
})

/**
 * Formats the hint for a fault that `baton doctor --fix` can repair. `purpose` is an infinitive.
 */
export const fixHint = (purpose: string): string => `Run baton doctor --fix to ${purpose}.`

/** Joins names: `a`, `a and b`, `a, b and c`. */
export function joinNames(names: readonly string[]): string {
  return names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

/** Formats a size: `640 bytes`, `1.2 MB`. */
export function bytesText(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  const at = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** at
  return `${at === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[at]}`
}

/** Formats an age: `45 s`, `12 min`, `3 h`, `5 days`. */
export function agoText(ms: number): string {
  const [seconds, minutes, hours] = [ms / 1000, ms / 60_000, ms / 3_600_000]
  if (seconds < 90) return `${Math.max(0, Math.round(seconds))} s`
  if (minutes < 90) return `${Math.round(minutes)} min`
  return hours < 48 ? `${Math.round(hours)} h` : `${Math.round(hours / 24)} days`
}
