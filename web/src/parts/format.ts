/** Shown for an unknown number or time. A zero would claim a value. */
export const UNKNOWN_TEXT = '–'

/** Token count in short: `950`, `8.4k`, `167k`, `1.2M`. */
export function tokensText(count: number | null | undefined): string {
  if (count === null || count === undefined) return UNKNOWN_TEXT
  if (count < 1_000) return String(Math.round(count))
  for (const [unit, size] of UNITS) {
    const scaled = count / size
    const rounded = scaled < 9.95 ? Math.round(scaled * 10) / 10 : Math.round(scaled)
    if (rounded < 1_000 || unit === 'B') return `${rounded}${unit}`
  }
  return UNKNOWN_TEXT
}
const UNITS = [
  ['k', 1e3],
  ['M', 1e6],
  ['B', 1e9],
] as const

/** Number with grouped digits: `166,400`. */
export function groupedText(count: number | null | undefined): string {
  return count === null || count === undefined
    ? UNKNOWN_TEXT
    : count.toLocaleString('en-US', { maximumFractionDigits: 0 })
}

/** Percentage: `71%`, or with one decimal if rounding would give a false 0 or 100: `99.6%`. */
export function percentText(percent: number | null | undefined): string {
  if (percent === null || percent === undefined) return UNKNOWN_TEXT
  const whole = Math.round(percent)
  const hidesRest = (whole === 100 && percent < 100) || (whole === 0 && percent > 0)
  return `${hidesRest ? Math.min(99.9, Math.max(0.1, Math.round(percent * 10) / 10)) : whole}%`
}

/** Amount in US dollars: `$0.42`, `$12.30`, `$1,240`, `< $0.01`. */
export function moneyText(usd: number | null | undefined): string {
  if (usd === null || usd === undefined) return UNKNOWN_TEXT
  if (usd > 0 && usd < 0.005) return '< $0.01'
  const digits = usd >= 1_000 ? 0 : 2
  return `$${usd.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })}`
}

/** Makes a server's text a sentence: `the file is missing` becomes `The file is missing.` */
export function toSentence(text: string): string {
  const whole = text.trim()
  return `${whole.charAt(0).toUpperCase()}${whole.slice(1)}${/[.!?:…]$/.test(whole) ? '' : '.'}`
}

/** Size in bytes: `512 B`, `1.4 MB`. */
export function bytesText(bytes: number | null | undefined): string {
  if (bytes === null || bytes === undefined) return UNKNOWN_TEXT
  if (bytes < 1_000) return `${bytes} B`
  const step = Math.min(3, Math.floor(Math.log10(bytes) / 3))
  const scaled = bytes / 1_000 ** step
  return `${scaled < 9.95 ? scaled.toFixed(1) : Math.round(scaled)} ${['B', 'kB', 'MB', 'GB'][step]}`
}

/** Duration: `850 ms`, `12 s`, `3 min`, `1 h 20 min`, `2 d 4 h`. */
export function durationText(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return UNKNOWN_TEXT
  // The page's clock is up to five seconds late, so a time that has just begun lies ahead of it.
  if (ms <= 0) return '0 s'
  if (ms < 1_000) return `${Math.round(ms)} ms`
  const seconds = Math.round(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.round(seconds / 60)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  if (hours < 24) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`
  return hours % 24 === 0 ? `${Math.floor(hours / 24)} d` : `${Math.floor(hours / 24)} d ${hours % 24} h`
}

/** Relative time: `now`, `40 s ago`, `in 3 h`, `2 d ago`; beyond four weeks the date. */
export function relativeText(at: string | number, now: number): string {
  const then = typeof at === 'number' ? at : Date.parse(at)
  const away = Math.abs(now - then)
  if (away < 5_000) return 'now'
  if (away > 28 * 86_400_000) return dayText(new Date(then))
  const text = away < 60_000 ? `${Math.floor(away / 10_000) * 10 || 5} s` : largestUnit(away)
  return then > now ? `in ${text}` : `${text} ago`
}

function largestUnit(ms: number): string {
  const minutes = Math.floor(ms / 60_000)
  if (minutes < 60) return `${minutes} min`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} d`
}

/** Number with at least two digits: `07`. */
export const twoDigits = (value: number): string => String(value).padStart(2, '0')

export function dayText(date: Date): string {
  return `${date.getFullYear()}-${twoDigits(date.getMonth() + 1)}-${twoDigits(date.getDate())}`
}

/** Time of day in the browser's time zone: `14:03:09`. */
export function clockText(at: string | number): string {
  const date = new Date(at)
  return `${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}:${twoDigits(date.getSeconds())}`
}

/** Full local time with its offset: `2026-11-16 14:03:09 (UTC+01:00)`. */
export function exactTimeText(at: string | number): string {
  const date = new Date(at)
  const offset = -date.getTimezoneOffset()
  const [hours, minutes] = [Math.floor(Math.abs(offset) / 60), Math.abs(offset) % 60].map(twoDigits)
  const zone = `UTC${offset < 0 ? '−' : '+'}${hours}:${minutes}`
  return `${dayText(date)} ${clockText(at)} (${zone})`
}

/** First characters of a seat's id, as many as `baton status` prints and `baton show` accepts. */
export const shortSeatId = (id: string): string => id.slice(0, 9)

/** First eight characters of a long id: enough to recognise a session. */
export const shortId = (id: string): string => (id.length > 12 ? id.slice(0, 8) : id)

/** Last folder of a path. */
export const folderName = (path: string): string => path.split('/').filter(Boolean).at(-1) ?? path

export const countedNoun = (count: number, one: string, many = `${one}s`): string =>
  `${groupedText(count)} ${count === 1 ? one : many}`
