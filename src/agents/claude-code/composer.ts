/**
 * The content of the client's composer (its input line).
 * Baton reads it from the client's screen alone, with `tmux capture-pane -p -e`.
 *
 * ──────────────────────────        a rule over the whole width, sometimes with a name in it
 * ❯ fix the login                   the prompt sign in the first column, text from the third
 * and the logout▮                 more lines below, the caret as an inverse cell
 * ──────────────────────────
 * ⏸ manual mode on                status line, hints
 *
 * Text by the client itself (placeholders, completions) is dim except for the cell under the caret.
 * A dialog, the transcript view or the history search replace the composer.
 * In shell mode the prompt sign is `!`, and pasted text would be executed.
 */
export type ComposerContent =
  | { state: 'empty' }
  /**
   * `text` is the draft as shown on the screen, wrapped lines as lines.
   * `caret` is the position of the caret in the text, null when the caret is not visible.
   */
  | { state: 'draft'; text: string; caret: number | null; menu: string | null }
  | { state: 'unknown'; why: string }

interface Cell {
  char: string
  dim: boolean
  inverse: boolean
}

const PROMPT = 2
const SIGNS = ['❯', '>', '!']

/**
 * Reads the composer (the client's input line) from a screen.
 * `cursor` is the terminal's, counted from the top: the only caret of a client without focus.
 */
export function readComposer(screen: string, cursor: { x: number; y: number } | null = null): ComposerContent {
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

/** Finds the lowest input field on the screen: a prompt sign between two horizontal lines. */
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

/**
 * Returns the text that the user typed in one row of the screen.
 * The cell under the caret is never dim, so the next cell decides whether the text is dim.
 */
function typed(row: Cell[]): string {
  const own = row.map((cell, at) => (cell.dim || (cell.inverse && row[at + 1]?.dim) ? ' ' : cell.char))
  return own.join('').replaceAll('\u00a0', ' ').trimEnd()
}

/** Joins the lines of a draft. Trailing blanks are dropped, except those typed before the caret. */
function pad(lines: string[], caret: { row: number; column: number }, signs: number): { value: string; caret: number } {
  const column = caret.column - PROMPT + (caret.row === 0 ? signs : 0)
  const padded = lines.map((line, at) => (at === caret.row ? line.padEnd(column) : line))
  while (padded.length > caret.row + 1 && padded.at(-1) === '') padded.pop()
  const before = padded.slice(0, caret.row).reduce((sum, line) => sum + line.length + 1, 0)
  return { value: padded.join('\n'), caret: before + column }
}

/**
 * Returns the entry of the open command menu that Enter would select. Null when no menu is open.
 */
function chosen(above: Cell[][]): string | null {
  for (const row of above.reverse().map(plain).slice(0, 24)) {
    const found = /^ {2}❯ (\/\S+)/.exec(row)
    if (found) return found[1]!
  }
  return null
}

/**
 * Parses rows of screen cells with the attributes dim and inverse.
 * Attributes continue over line ends.
 */
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

/** Returns the codes of an attribute sequence without colours: the 2 of `38;2;…` is not dim. */
function codesIn(attributes: string): number[] {
  const codes = attributes.split(';').map((code) => (code.includes(':') ? -1 : Number(code)))
  const kept: number[] = []
  for (let i = 0; i < codes.length; i++) {
    if (codes[i] === 38 || codes[i] === 48 || codes[i] === 58) i += codes[i + 1] === 2 ? 4 : 2
    else kept.push(codes[i]!)
  }
  return kept
}

/** The position of a pasted text in a draft. */
export interface PastedText {
  before: string
  after: string
  /** Number of Backspace presses right after the text that delete it. */
  keys: number
}

/**
 * Finds a pasted text in a draft.
 * Null when the text is missing or its position is unclear.
 * The client shows a long paste as one word that a single key deletes.
 */
export function findPastedText(draft: string, text: string): PastedText | null {
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

/**
 * Minimum number of characters that must match at the end.
 * Three rows of the narrowest pane hold them.
 */
const LEAST_END = 24

/**
 * Finds the end of a pasted text in a draft.
 * A low pane shows only the last rows of a long draft, so all visible rows must match the end.
 */
function findEnd(draft: string, text: string, keys: number): PastedText | null {
  const whole = withoutBlanks(text)
  const shown = withoutBlanks(draft)
  const end = whole.slice(-LEAST_END)
  const at = shown.indexOf(end) + end.length
  if (end.length < LEAST_END || at < LEAST_END || shown.indexOf(end, at) >= 0) return null
  if (!draft.includes('\n') || at >= whole.length || !whole.endsWith(shown.slice(0, at))) return null
  const after = draft.slice(placeOf(draft, at))
  // A line end in the draft may be drawn by the client, and no key deletes such a line end.
  return after.includes('\n') ? null : { before: '', after, keys }
}

/** Returns the index in the text after the given number of non-blank characters. */
function placeOf(text: string, signs: number): number {
  let seen = 0
  return [...text.matchAll(/\S/g)].find(() => ++seen === signs)!.index + 1
}

/** Removes blanks, because the client wraps lines at blanks and trailing blanks are invisible. */
const withoutBlanks = (text: string): string => text.replace(/\s+/g, '')
