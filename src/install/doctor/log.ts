import { chmodSync, closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import { agoText, bytesText, type Fault, type Finding, fine, mends } from './finding.js'
import type { Patient } from './patient.js'

const TAIL = 64 * 1024
const DAY = 24 * 3_600_000

export function checkLog({ home, now }: Patient): Finding {
  const stat = statSync(home.log, { throwIfNoEntry: false })
  if (!stat) return fine(`${home.log}: nothing was logged yet.`)
  if (!stat.isFile())
    return { told: '', faults: [{ detail: `${home.log} is not a file.`, fix: 'Move it away; a new one is made.' }] }
  const faults: Fault[] = []
  if (stat.mode & 0o077)
    faults.push({
      detail: `Others can read ${home.log} (mode ${(stat.mode & 0o777).toString(8)}).`,
      fix: mends('gives it mode 600'),
      repair: () => chmodSync(home.log, 0o600),
    })
  const older = statSync(`${home.log}.1`, { throwIfNoEntry: false })?.size ?? 0
  const error = lastError(tailOf(home.log), now())
  return { told: `${home.log}, ${bytesText(stat.size + older)}.${error ? ` ${error}` : ''}`, faults }
}

/** The last error of the past day; null: none. */
export function lastError(lines: readonly string[], now: Date): string | null {
  for (const line of lines.toReversed()) {
    try {
      const { at, level, text, reason } = JSON.parse(line)
      const age = now.getTime() - Date.parse(at)
      if (age > DAY) return null
      if (level === 'error') return `Last error, ${agoText(age)} ago: ${reason ? `${text} (${reason})` : text}.`
    } catch {}
  }
  return null
}

export function tailOf(path: string): string[] {
  const fd = openSync(path, 'r')
  try {
    const { size } = fstatSync(fd)
    const bytes = Buffer.alloc(Math.min(size, TAIL))
    readSync(fd, bytes, 0, bytes.length, size - bytes.length)
    return bytes.toString().split('\n').filter(Boolean)
  } finally {
    closeSync(fd)
  }
}
