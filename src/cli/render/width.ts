const PAINTED = /\u001b\[[0-9;]*m/g
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g

/** Names and paths come from outside: what would steer the terminal is shown as a space. */
export function harmless(text: string): string {
  return text.replace(CONTROL, ' ')
}

/** Cells a text takes on a terminal; colours take none. */
export function widthOf(text: string): number {
  let width = 0
  for (const character of text.replace(PAINTED, '')) width += cells(character.codePointAt(0)!)
  return width
}

/** East Asian and pictorial characters take two cells, combining ones none. Near enough for names and paths. */
function cells(code: number): number {
  if (code < 0x300) return 1
  if ((code >= 0x300 && code <= 0x36f) || (code >= 0xfe00 && code <= 0xfe0f) || code === 0x200d) return 0
  const wide =
    (code >= 0x1100 && code <= 0x115f) ||
    (code >= 0x2e80 && code <= 0xa4cf) ||
    (code >= 0xac00 && code <= 0xd7a3) ||
    (code >= 0xf900 && code <= 0xfaff) ||
    (code >= 0xfe30 && code <= 0xfe6f) ||
    (code >= 0xff00 && code <= 0xff60) ||
    (code >= 0x1f300 && code <= 0x1faff) ||
    (code >= 0x20000 && code <= 0x3fffd)
  return wide ? 2 : 1
}

/** Cut to a width, with an ellipsis where something is missing; colours stay whole. `from` says which end is dropped. */
export function cut(text: string, width: number, from: 'end' | 'start' = 'end'): string {
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
