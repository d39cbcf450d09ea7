/**
 * Longer text was pasted or is no sentence, so it is not analysed.
 * A request is kept verbatim in any case.
 */
const LONGEST = 2_000

/** A sentence of prose, as written in the text. */
interface Sentence {
  text: string
  question: boolean
}

/** Returns the sentences that a user wrote himself, without code, logs and quotations. */
export function sentencesOf(text: string): readonly Sentence[] {
  if (text !== last.text) last = { text, sentences: paragraphsOf(withoutBlocks(text)).flatMap(split) }
  return last.sentences
}

/** Cached, because the watchers of several kinds read the same text in turn. */
let last: { text: string; sentences: readonly Sentence[] } = { text: '', sentences: [] }

/** Patterns of lines that are not prose: logs, code, quotations. */
const PASTED = [
  /^\s*>/,
  /^(?: {4,}|\t)(?![-*•]|\d+[.)])/,
  /^\s*\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d/,
  /^\s*\[?\d\d:\d\d:\d\d/,
  /^\s*\[?(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|TRACE|CRITICAL)\b[\]:\s]/,
  /^\s*(?:at [^(]+\(.*:\d+\)|at \S+:\d+|File ".*", line \d+|Traceback \(most recent)/,
  /^\s*(?:\$|❯|➜|PS [A-Z]:|\w+@[\w-]+[:~])\s*\S/,
  /^\s*(?:@@ |diff --git |index [0-9a-f]{7}|[-+]{3} [ab]\/)/,
  /^\s*(?:\w*(?:Error|Exception|Warning)|panic|fatal|error(?:\[\w+\])?|warning):/,
  /^\s*(?:npm ERR!|E\s{2,}\S)/,
  /^\s*[\w./-]+:\d+(?::\d+)?:? /,
  /^\s*(?:\/\/|\/\*|#!|<!--|import |from \S+ import|const |let |var |function |class |def |return\b|if \(|\}|\{)/,
  /^\s*\|.*\|\s*$/,
]
/** Quick filter: most lines begin like prose, so none of the patterns above can match. */
const PROSE = /^(?!File |Traceback )[A-Z][a-z]{0,15} (?! )/

function isPasted(line: string): boolean {
  return ';{}'.includes(line.trimEnd().at(-1) ?? ' ') || (!PROSE.test(line) && PASTED.some((one) => one.test(line)))
}

const BULLET = /^\s*(?:[-*•–]|\d+[.)]|\[[ x]\])\s+/

/** Joins wrapped lines: a line continues when it has no end and the next begins in lower case. */
function paragraphsOf(prose: string): string[] {
  const found: string[][] = []
  let open = false
  for (const line of prose.split('\n')) {
    const words = isPasted(line) ? '' : line.trim()
    if (words === '') open = false
    else {
      const goesOn = open && !BULLET.test(line) && /^[\p{Ll}("'`\d]/u.test(words)
      if (goesOn && !/[.!?:。！？：]["')]?$/.test(found.at(-1)!.at(-1)!.slice(-2))) found.at(-1)!.push(words)
      else found.push([words.replace(BULLET, '').replace(/^#+\s+/, '')])
      open = true
    }
  }
  return found.map((lines) => lines.join(' '))
}

/** Longest abbreviation below; more text before a full stop is not checked. */
const NO_END_LONGEST = 10
const NO_END =
  /(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|no|nr|z\.B|d\.h|bzw|ca|usw|p\.ej|Dr|Mr|Mrs|St|Fig|v)|\b\p{Lu})\.$/iu

function split(paragraph: string): Sentence[] {
  const found: Sentence[] = []
  let start = 0
  const end = /(?<![.!?…])[.!?…]+["'”’)\]*_`]*(?=\s|$)|[。！？]+["”’」』）)]*/g
  for (const match of paragraph.matchAll(end)) {
    const stop = match.index + match[0].length
    if (
      match[0] === '.' &&
      stop < paragraph.length &&
      NO_END.test(paragraph.slice(Math.max(start, stop - NO_END_LONGEST), stop))
    )
      continue
    put(start, stop)
    start = stop
  }
  put(start, paragraph.length)
  return found

  function put(from: number, to: number): void {
    if (to - from > LONGEST) return
    const text = paragraph.slice(from, to).trim()
    if (!/[\p{L}\p{N}]/u.test(text)) return
    found.push({ text, question: /[?？]/.test(text.slice(-20)) && /[?？]["'”’)\]*_`」』）]*$/.test(text) })
  }
}

const FENCE = /^[ \t]*(`{3,}|~{3,})[^`~]*$/
/** A line with only `<tag>`. */
const OPENING = /^[ \t]*<([a-zA-Z][\w-]*)(?:\s[^>]*)?>[ \t]*$/
const CLOSING = /^[ \t]*<\/([a-zA-Z][\w-]*)>[ \t]*$/
const RULED = /^-{3,}\s*(?:BEGIN|START|8<|cut here)/i
const RULED_END = /^-{3,}\s*(?:END|STOP|8<|cut here)/i
const TRIPLE = /^[ \t]*("""|''')[\s\S]*?\1/gm

/**
 * Removes fenced code, documents in tags on lines of their own, and ruled or triple quotes.
 * Works line by line, so that the time grows linearly with the length of the text.
 */
function withoutBlocks(text: string): string {
  const triple = text.includes('"""') || text.includes("'''")
  if (!triple && !['```', '~~~', '</', '---'].some((sign) => text.includes(sign))) return text
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
  const ends = closingLines(lines)
  const kept: string[] = []
  for (let i = 0; i < lines.length; i++) {
    const stop = blockEnd(lines, i, ends)
    if (stop === null) kept.push(lines[i]!)
    else {
      kept.push('', '')
      i = stop
    }
  }
  const prose = kept.join('\n')
  return triple ? prose.replace(TRIPLE, '\n\n') : prose
}

/**
 * Returns the last line of the block that begins at line `i`.
 * Null when none begins there or it never ends.
 */
function blockEnd(lines: readonly string[], i: number, ends: Ends): number | null {
  const line = lines[i]!
  const fence = line.includes('```') || line.includes('~~~') ? FENCE.exec(line)?.[1] : undefined
  if (fence !== undefined) {
    for (let at = i + 1; at < lines.length; at++) if (lines[at]!.trim() === fence) return at
    return lines.length
  }
  const tag = line.includes('<') ? OPENING.exec(line)?.[1] : undefined
  if (tag !== undefined) return ends.tag(tag, i)
  return line.startsWith('---') && RULED.test(line) ? ends.ruled(i) : null
}

interface Ends {
  tag(name: string, after: number): number | null
  ruled(after: number): number | null
}

function closingLines(lines: readonly string[]): Ends {
  const tags = new Map<string, number[]>()
  const ruled: number[] = []
  for (const [i, line] of lines.entries()) {
    const tag = line.includes('</') ? CLOSING.exec(line)?.[1] : undefined
    if (tag !== undefined) {
      const known = tags.get(tag)
      if (known) known.push(i)
      else tags.set(tag, [i])
    }
    if (line.startsWith('---') && RULED_END.test(line)) ruled.push(i)
  }
  return { tag: (name, after) => nextOf(tags.get(name), after), ruled: (after) => nextOf(ruled, after) }
}

function nextOf(places: readonly number[] = [], after: number): number | null {
  let low = 0
  let high = places.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (places[middle]! > after) high = middle
    else low = middle + 1
  }
  return places[low] ?? null
}
