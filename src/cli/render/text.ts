import { basename, dirname } from 'node:path'
import { displayPath } from '../../lib/replace-controls.js'

const PAINTED = /\u001b\[[0-9;]*m/g

/** Returns the number of terminal cells of a text. Colours take none. */
export function widthOf(text: string): number {
  let width = 0
  for (const character of text.replace(PAINTED, '')) width += cells(character.codePointAt(0)!)
  return width
}

const ZERO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u
/** Emoji that terminals draw in two cells without a variation selector: ✅, ⌚, 🚀. */
const PICTURE = /\p{Emoji_Presentation}/u

/**
 * Returns the cells of a character: two for East Asian ones and emoji, none for combining ones.
 * Accurate enough for names and paths.
 */
function cells(code: number): number {
  if (code < 0x300) return code === 0xad ? 0 : 1
  const character = String.fromCodePoint(code)
  if (ZERO_WIDTH.test(character) || (code >= 0x1160 && code <= 0x11ff)) return 0
  // Two of these letters form one flag of two cells.
  if (code >= 0x1f1e6 && code <= 0x1f1ff) return 1
  const wide =
    PICTURE.test(character) ||
    (code >= 0x1100 && code <= 0x115f) ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0xffe0 && code <= 0xffe6) ||
    (code >= 0x1f300 && code <= 0x1faff) ||
    (code >= 0x20000 && code <= 0x3fffd)
  return wide ? 2 : 1
}

/**
 * Cuts a text to a width and adds an ellipsis; colour codes stay whole.
 * `from` is the end that is cut off.
 */
export function cutToWidth(text: string, width: number, from: 'end' | 'start' = 'end'): string {
  if (widthOf(text) <= width) return text
  if (width <= 1) return width === 1 ? '…' : ''
  if (from === 'start') return `…${takeBack([...text], width - 1)}`
  let used = 0
  let kept = ''
  let painted = false
  for (const part of text.split(/(\u001b\[[0-9;]*m)/)) {
    if (part.startsWith('\u001b')) {
      kept += part
      painted = part !== '\u001b[0m'
      continue
    }
    for (const character of part) {
      const next = cells(character.codePointAt(0)!)
      if (used + next > width - 1) return `${kept}…${painted ? '\u001b[0m' : ''}`
      used += next
      kept += character
    }
  }
  return kept
}

function takeBack(characters: string[], width: number): string {
  let kept = ''
  let used = 0
  for (const character of characters.reverse()) {
    const next = cells(character.codePointAt(0)!)
    if (used + next > width) break
    used += next
    kept = character + kept
  }
  return kept
}

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

export function padStart(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - widthOf(text))) + text
}

/** Breaks words that are longer than `room`, such as paths, so that `wrap` can fit them. */
export function breakLongWords(text: string, room: number): string {
  if (room === Number.POSITIVE_INFINITY) return text
  return text.replace(/\S+/g, (word) =>
    word.length <= room ? word : word.match(new RegExp(`.{1,${room}}`, 'gu'))!.join(' '),
  )
}

/** Wraps the lines of a report. Continuations of an indented line are indented by two more. */
export function wrapLines(lines: readonly string[], width: number): string[] {
  return lines.flatMap((line) => {
    const lead = /^ */.exec(line)![0].length
    return wrap(line, width, lead === 0 ? 0 : lead + 2)
  })
}

/**
 * Breaks a text between words into lines of a width.
 * Lines after the first begin with `indent` spaces. A longer word stays whole.
 */
export function wrap(text: string, width: number, indent: number): string[] {
  const lead = /^ */.exec(text)![0]
  const [first = '', ...words] = text.slice(lead.length).split(' ')
  const lines: string[] = []
  let line = lead + first
  for (const word of words) {
    if (widthOf(line) + 1 + widthOf(word) > width) {
      lines.push(line.trimEnd())
      line = ' '.repeat(indent) + word
    } else line = `${line} ${word}`
  }
  return [...lines, line]
}

const UNITS = ['kB', 'MB', 'GB', 'TB']

/** Returns a size such as `812 B`, `4.2 kB` or `120 MB`, in powers of 1000. */
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

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Returns an age such as `12s`, `3m`, `2h` or `5d`. Never negative. */
export function ageText(at: string | null, now: Date): string {
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

/** Returns the timezone offset of a date, such as `+01:00`. */
export function utcOffset(date: Date): string {
  const minutes = -date.getTimezoneOffset()
  const size = Math.abs(minutes)
  return `${minutes < 0 ? '-' : '+'}${two(Math.floor(size / 60))}:${two(size % 60)}`
}

/** Returns local time with its offset: `2026-11-15 14:02:11 +01:00`. */
export function localTimestamp(at: string | null): string {
  if (at === null) return '–'
  const date = new Date(at)
  return `${localDay(date)} ${localTime(date)} ${utcOffset(date)}`
}

/** Returns elapsed time to the second: `0:42`, `12:05`, `1:02:03`. */
export function elapsedText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  return hours > 0 ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`
}

const ROOM = 28

/** Returns the last two folders of a path, or the only one, as a short project name. */
export function projectName(path: string | null, home: string | undefined): string {
  if (path === null) return '–'
  const full = displayPath(path, home)
  if (full.length <= ROOM) return full
  const two = `…/${basename(dirname(full))}/${basename(full)}`
  return two.length <= ROOM ? two : `…/${basename(full)}`
}
