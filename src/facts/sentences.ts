/** A sentence of prose, as it stands in the text. */
export interface Sentence {
  text: string
  question: boolean
}

/** What a person wrote himself, sentence by sentence: without code, logs and what he quotes from elsewhere. */
export function sentencesOf(text: string): readonly Sentence[] {
  if (text !== last.text) last = { text, sentences: paragraphsOf(ownWords(text)).flatMap(split) }
  return last.sentences
}

/** Several kinds of facts look at the same text one after the other. */
let last: { text: string; sentences: readonly Sentence[] } = { text: '', sentences: [] }

const FENCE = /^[ \t]*(```+|~~~+)[^\n]*\n[\s\S]*?(?:^[ \t]*\1[ \t]*$|(?![\s\S]))/gm
/** `<tag>…</tag>` around lines of their own: a document somebody pasted. */
const DOCUMENT = /^[ \t]*<([a-zA-Z][\w-]*)(?:\s[^>\n]*)?>[ \t]*\n[\s\S]*?^[ \t]*<\/\1>[ \t]*$/gm
const TRIPLE = /^[ \t]*("""|''')[\s\S]*?\1/gm
const RULED = /^-{3,}\s*(?:BEGIN|START|8<|cut here)[\s\S]*?^-{3,}\s*(?:END|STOP|8<|cut here).*$/gim

const BLOCKS: [string, RegExp][] = [
  ['```', FENCE],
  ['~~~', FENCE],
  ['</', DOCUMENT],
  ['"""', TRIPLE],
  ["'''", TRIPLE],
  ['---', RULED],
]

/** A line nobody writes as prose. */
const PASTED = [
  /^\s*>/,
  /^(?: {4,}|\t)(?![-*•]|\d+[.)])/,
  /^\s*\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d/,
  /^\s*\[?\d\d:\d\d:\d\d/,
  /^\s*\[?(?:ERROR|WARN(?:ING)?|INFO|DEBUG|FATAL|TRACE|CRITICAL)\b[\]:\s]/,
  /^\s*(?:at .+\(.*:\d+(?::\d+)?\)|at \S+:\d+|File ".*", line \d+|Traceback \(most recent)/,
  /^\s*(?:\$|❯|➜|PS [A-Z]:|\w+@[\w-]+[:~])\s*\S/,
  /^\s*(?:@@ |diff --git |index [0-9a-f]{7}|[-+]{3} [ab]\/)/,
  /^\s*(?:\w*(?:Error|Exception|Warning)|panic|fatal|error(?:\[\w+\])?|warning):/,
  /^\s*(?:npm ERR!|E\s{2,}\S)/,
  /^\s*[\w./-]+:\d+(?::\d+)?:? /,
  /^\s*(?:\/\/|\/\*|#!|<!--|import |from \S+ import|const |let |var |function |class |def |return\b|if \(|\}|\{)/,
  /^\s*\|.*\|\s*$/,
  /[;{}]\s*$/,
]

function ownWords(text: string): string {
  let prose = text
  for (const [sign, pasted] of BLOCKS) if (prose.includes(sign)) prose = prose.replace(pasted, '\n\n')
  const lines = prose.split('\n')
  return lines.map((line) => (PASTED.some((one) => one.test(line)) ? '' : line)).join('\n')
}

const BULLET = /^\s*(?:[-*•–]|\d+[.)]|\[[ x]\])\s+/

/** Lines that belong together: a wrapped line goes on where it does not end and the next begins small. */
function paragraphsOf(prose: string): string[] {
  const found: string[] = []
  let open = false
  for (const line of prose.split('\n')) {
    const words = line.trim()
    if (words === '') open = false
    else {
      const goesOn = open && !BULLET.test(line) && /^[\p{Ll}("'`\d]/u.test(words) && !/[.!?:。！？：]["')]?$/.test(found.at(-1)!)
      if (goesOn) found[found.length - 1] += ` ${words}`
      else found.push(words.replace(BULLET, '').replace(/^#+\s+/, ''))
      open = true
    }
  }
  return found
}

const NO_END = /(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|no|nr|z\.B|d\.h|bzw|ca|usw|p\.ej|Dr|Mr|Mrs|St|Fig|v)|\b\p{Lu})\.$/iu

function split(paragraph: string): Sentence[] {
  const found: Sentence[] = []
  let start = 0
  const end = /[.!?…]+["'”’)\]*_`]*(?=\s|$)|[。！？]+["”’」』）)]*/g
  for (const match of paragraph.matchAll(end)) {
    const stop = match.index + match[0].length
    const words = paragraph.slice(start, stop)
    if (match[0] === '.' && NO_END.test(words) && stop < paragraph.length) continue
    put(words)
    start = stop
  }
  put(paragraph.slice(start))
  return found

  function put(words: string): void {
    const text = words.trim()
    if (/[\p{L}\p{N}]/u.test(text)) found.push({ text, question: /[?？]["'”’)\]*_`」』）]*$/.test(text) })
  }
}
