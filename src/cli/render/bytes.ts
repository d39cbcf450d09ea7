const UNITS = ['kB', 'MB', 'GB', 'TB']

/** `812 B`, `4.2 kB`, `120 MB`: thousands, as disks are sold. */
export function bytesText(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  let value = bytes
  let unit = -1
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000
    unit++
  }
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`
}
