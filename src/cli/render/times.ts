const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** `12s`, `3m`, `2h`, `5d`: how long ago; never negative. */
export function age(at: string | null, now: Date): string {
  if (at === null) return '–'
  const ms = Math.max(0, now.getTime() - Date.parse(at))
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)}s`
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)}m`
  if (ms < DAY) return `${Math.floor(ms / HOUR)}h`
  return `${Math.floor(ms / DAY)}d`
}

const two = (n: number): string => String(n).padStart(2, '0')

export function localDay(date: Date): string {
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
}

export function localTime(date: Date): string {
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`
}

/** `+01:00` */
export function offset(date: Date): string {
  const minutes = -date.getTimezoneOffset()
  const size = Math.abs(minutes)
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`
}

/** `2026-11-15 14:02:11 +01:00`, the machine's own time with its offset. */
export function stamp(at: string | null): string {
  if (at === null) return '–'
  const date = new Date(at)
  return `${localDay(date)} ${localTime(date)} ${offset(date)}`
}
