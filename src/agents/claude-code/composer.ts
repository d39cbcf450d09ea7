/**
 * What stands in the client's composer, judged from its screen alone (`tmux capture-pane -p -e`).
 *
 *   ──────────────────────────        a rule over the whole width, sometimes with a name in it
 *   ❯ fix the login                   the prompt sign at the very left; typed text from the third column
 *     and the logout▮                 more lines below, the caret as an inverse cell
 *   ──────────────────────────
 *     ⏸ manual mode on                status line, hints
 *
 * Text the client itself puts there (placeholders, completions) is dim but for the cell under the caret. A dialog, the transcript
 * view or the history search replace the composer. In shell mode the prompt sign is `!`, and what is pasted would be run.
 */
export type Composer =
  | { state: 'empty' }
  /** `text`: as the screen shows it, wrapped lines as lines. `caret`: where in it the next key goes; null: not to be seen. */
  | { state: 'draft'; text: string; caret: number | null; menu: string | null }
  | { state: 'unknown'; why: string }

interface Cell {
  char: string
  dim: boolean
  inverse: boolean
}

const PROMPT = 2
const SIGNS = ['❯', '>', '!']

/** `cursor`: the terminal's own, rows counted from the top of the screen; a client without the focus shows no other caret. */
export function readComposer(screen: string, cursor: { x: number; y: number } | null = null): Composer {
  const rows = toCells(screen)
  const place = find(rows)
  if (place === null) return { state: 'unknown', why: 'the composer is not on the screen' }
  const { first, end } = place
  const body = rows.slice(first, end)
  const caret = caretIn(body) ?? (cursor && { row: cursor.y - first, column: cursor.x })
  if (caret === null || caret.row < 0 || caret.row >= body.length || caret.column < PROMPT) {
    return { state: 'unknown', why: 'the composer does not have the keyboard' }
  }
  const lines = body.map((row) => typed(row.slice(PROMPT)))
  const sign = body[0]![0]!.char
  if (sign === '!') lines[0] = `!${lines[0]}`
  const text = pad(lines, caret, sign === '!' ? 1 : 0)
  if (text.value === '') return { state: 'empty' }
  return { state: 'draft', text: text.value, caret: text.caret, menu: chosen(rows.slice(0, first - 1)) }
}

/** The lowest prompt sign between two rules. */
function find(rows: Cell[][]): { first: number; end: number } | null {
  const rules = rows.flatMap((row, at) => (isRule(plain(row)) ? [at] : []))
  for (let i = rules.length - 1; i > 0; i--) {
    const [above, end] = [rules[i - 1]!, rules[i]!]
    const row = rows[above + 1]!
    const signed = SIGNS.includes(row[0]?.char ?? '') && isBlank(row[1])
    const indented = rows.slice(above + 2, end).every((next) => next.slice(0, PROMPT).every(isBlank))
    if (end > above + 1 && signed && indented) return { first: above + 1, end }
  }
  return null
}

const isRule = (line: string): boolean => /^─{3,}(?: .{1,200} ─+|─*)$/.test(line) && line.length >= 20
const isBlank = (cell: Cell | undefined): boolean => cell === undefined || cell.char.trim() === ''
const plain = (row: Cell[]): string =>
  row
    .map(({ char }) => char)
    .join('')
    .trimEnd()

function caretIn(body: Cell[][]): { row: number; column: number } | null {
  for (const [row, cells] of body.entries()) {
    const column = cells.findIndex(({ inverse }) => inverse)
    if (column >= 0) return { row, column }
  }
  return null
}

/** What the user typed in one row. The cell under the caret is never dim: it belongs to what follows it. */
function typed(row: Cell[]): string {
  const own = row.map((cell, at) => (cell.dim || (cell.inverse && row[at + 1]?.dim) ? ' ' : cell.char))
  return own.join('').replaceAll('\u00a0', ' ').trimEnd()
}

/** Blanks at the end of a line cannot be seen; those before the caret were typed. */
function pad(lines: string[], caret: { row: number; column: number }, signs: number): { value: string; caret: number } {
  const column = caret.column - PROMPT + (caret.row === 0 ? signs : 0)
  const padded = lines.map((line, at) => (at === caret.row ? line.padEnd(column) : line))
  while (padded.length > caret.row + 1 && padded.at(-1) === '') padded.pop()
  const before = padded.slice(0, caret.row).reduce((sum, line) => sum + line.length + 1, 0)
  return { value: padded.join('\n'), caret: before + column }
}

/** The entry of the open command menu that Enter would take; null: no menu is open. */
function chosen(above: Cell[][]): string | null {
  for (const row of above.reverse().map(plain).slice(0, 24)) {
    const found = /^ {2}❯ (\/\S+)/.exec(row)
    if (found) return found[1]!
  }
  return null
}

/** Rows of cells with the two attributes that matter; attributes go on over line ends. */
function toCells(screen: string): Cell[][] {
  const rows: Cell[][] = [[]]
  let [dim, inverse] = [false, false]
  const parts = screen.matchAll(
    /\x1b\[([\d;:]*)m|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[\d;?]*[A-Za-z]|[\x0e\x0f\r]|([\s\S])/gu,
  )
  for (const [, attributes, char] of parts) {
    if (attributes !== undefined) {
      for (const code of codesIn(attributes)) {
        if (code === 0) [dim, inverse] = [false, false]
        else if (code === 2) dim = true
        else if (code === 22) dim = false
        else if (code === 7) inverse = true
        else if (code === 27) inverse = false
      }
    } else if (char === '\n') rows.push([])
    else if (char !== undefined) rows.at(-1)!.push({ char, dim, inverse })
  }
  return rows
}

/** The numbers of one attribute sequence without those that name a colour: the 2 of `38;2;…` is not dim. */
function codesIn(attributes: string): number[] {
  const codes = attributes.split(';').map((code) => (code.includes(':') ? -1 : Number(code)))
  const kept: number[] = []
  for (let i = 0; i < codes.length; i++) {
    if (codes[i] === 38 || codes[i] === 48 || codes[i] === 58) i += codes[i + 1] === 2 ? 4 : 2
    else kept.push(codes[i]!)
  }
  return kept
}

/** Where a pasted text stands in a draft. */
export interface Pasted {
  before: string
  after: string
  /** How many times BSpace right behind it takes it away. */
  keys: number
}

/** null: the draft does not hold it, or it cannot be told where. The client shows a long paste as one word that a single key removes. */
export function findPasted(draft: string, text: string): Pasted | null {
  const short = /\[Pasted text #\d+(?: \+(\d+) lines)?\]/.exec(draft)
  if (short && Number(short[1] ?? 0) === text.split('\n').length - 1) {
    return { before: draft.slice(0, short.index), after: draft.slice(short.index + short[0].length), keys: 1 }
  }
  const keys = [...text].length
  if (withoutBlanks(draft) === withoutBlanks(text)) return { before: '', after: '', keys }
  const at = draft.indexOf(text)
  if (at < 0) return findEnd(draft, text, keys)
  if (draft.indexOf(text, at + 1) >= 0) return null
  return { before: draft.slice(0, at), after: draft.slice(at + text.length), keys }
}

/** So many signs of its end are no accident; three rows of the narrowest pane hold as many. */
const LEAST_END = 24

/** A low pane shows the last rows of a long draft alone. All of them must be the end of the text; what stands above is not to be seen. */
function findEnd(draft: string, text: string, keys: number): Pasted | null {
  const whole = withoutBlanks(text)
  const shown = withoutBlanks(draft)
  const end = whole.slice(-LEAST_END)
  const at = shown.indexOf(end) + end.length
  if (end.length < LEAST_END || at < LEAST_END || shown.indexOf(end, at) >= 0) return null
  if (!draft.includes('\n') || at >= whole.length || !whole.endsWith(shown.slice(0, at))) return null
  const after = draft.slice(placeOf(draft, at))
  // A line end may be the user's own or the client's, which no key goes over.
  return after.includes('\n') ? null : { before: '', after, keys }
}

/** Right behind so many signs that are no blanks. */
function placeOf(text: string, signs: number): number {
  let seen = 0
  return [...text.matchAll(/\S/g)].find(() => ++seen === signs)!.index + 1
}

/** Lines are wrapped at blanks, and blanks at the end of a line are not to be seen. */
const withoutBlanks = (text: string): string => text.replace(/\s+/g, '')
