/** One thing that is wrong. */
export interface Fault {
  /** A sentence. */
  detail: string
  /** What a person should do; for a fault with `repair`: what the command does. */
  fix: string
  /** Mends it; may throw. Only where nobody's choice and nobody's data is touched. */
  repair?: () => void | Promise<void>
}

export interface Finding {
  /** What there is to say beside the faults: figures, versions, places. */
  told: string
  faults: Fault[]
}

export const fine = (told: string): Finding => ({ told, faults: [] })
export const broken = (detail: string, fix: string, repair?: Fault['repair']): Finding => ({
  told: '',
  faults: [{ detail, fix, ...(repair ? { repair } : {}) }],
})

/** The fix of what doctor can mend itself. */
export const mends = (what: string): string => `Run baton doctor --fix: it ${what}.`

/** `a`, `a and b`, `a, b and c`. */
export function listed(names: readonly string[]): string {
  return names.length < 2 ? (names[0] ?? '') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

export function bytesText(bytes: number): string {
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB']
  const at = bytes < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1000 ** at
  return `${at === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[at]}`
}

export function agoText(ms: number): string {
  const [seconds, minutes, hours] = [ms / 1000, ms / 60_000, ms / 3_600_000]
  if (seconds < 90) return `${Math.max(0, Math.round(seconds))} s`
  if (minutes < 90) return `${Math.round(minutes)} min`
  return hours < 48 ? `${Math.round(hours)} h` : `${Math.round(hours / 24)} days`
}
