import { withoutBlocks } from './pasted.js'

/** What is longer was pasted, or is no sentence: nobody looks for meaning in it. A request is kept word for word all the same. */
const LONGEST = 2_000

/** A sentence of prose, as it stands in the text. */
export interface Sentence {
  text: string
  question: boolean
}

/** What a person wrote himself, sentence by sentence: without code, logs and what he quotes from elsewhere. */
export function sentencesOf(text: string): readonly Sentence[] {
  if (text !== last.text) last = { text, sentences: paragraphsOf(withoutBlocks(text)).flatMap(split) }
  return last.sentences
}

/** Several kinds of facts look at the same text one after the other. */
let last: { text: string; sentences: readonly Sentence[] } = { text: '', sentences: [] }

/** A line nobody writes as prose. */
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
/** Most lines begin as prose does: none of the above can be one. */
const PROSE = /^(?!File |Traceback )[A-Z][a-z]{0,15} (?! )/

function isPasted(line: string): boolean {
  return ';{}'.includes(line.trimEnd().at(-1) ?? ' ') || (!PROSE.test(line) && PASTED.some((one) => one.test(line)))
}

const BULLET = /^\s*(?:[-*•–]|\d+[.)]|\[[ x]\])\s+/

/** Lines that belong together: a wrapped line goes on where it does not end and the next begins small. */
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

/** No word for the end of a sentence is longer. */
const NO_END_LONGEST = 10
const NO_END = /(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|no|nr|z\.B|d\.h|bzw|ca|usw|p\.ej|Dr|Mr|Mrs|St|Fig|v)|\b\p{Lu})\.$/iu

function split(paragraph: string): Sentence[] {
  const found: Sentence[] = []
  let start = 0
  const end = /(?<![.!?…])[.!?…]+["'”’)\]*_`]*(?=\s|$)|[。！？]+["”’」』）)]*/g
  for (const match of paragraph.matchAll(end)) {
    const stop = match.index + match[0].length
    if (match[0] === '.' && stop < paragraph.length && NO_END.test(paragraph.slice(Math.max(start, stop - NO_END_LONGEST), stop)))
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
