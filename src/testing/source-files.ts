import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Root folder of the repository. */
export const ROOT = dirname(dirname(import.meta.dirname))

/** The layers of src/, lowest first. `src/version.ts` is in the first layer. */
export const LAYERS = [
  ['contract', 'lib', 'version.ts'],
  ['tracker', 'policy', 'facts', 'compaction', 'config'],
  ['agents', 'store', 'delivery', 'archive', 'briefs'],
  ['engine', 'jobs', 'history'],
  ['app', 'install', 'doctor', 'model', 'demo', 'proof'],
  ['server', 'cli', 'library', 'workers', 'hook', 'index.ts'],
]

/** A source file as the style rules see it. */
export interface SourceFile {
  /** Path below the root of the repository. */
  path: string
  text: string
  /** The text with comments replaced by spaces. Strings remain, and every offset stays the same. */
  uncommented: string
  /** The text with comments and the contents of strings replaced by spaces. */
  code: string
  comments: Comment[]
}

export interface Comment {
  /** Line of the first character, counted from 1. */
  line: number
  /** The comment's words: without markers, and consecutive line comments joined. */
  words: string
}

/** Returns the paths of the files below a folder of the repository, recorded fixtures left out. */
export function listFiles(folder: string, endings: RegExp): string[] {
  return (readdirSync(join(ROOT, folder), { recursive: true }) as string[])
    .filter((name) => endings.test(name) && !/(^|\/)(node_modules|dist)\//.test(name))
    .map((name) => `${folder}/${name}`)
    .sort()
}

export function readSource(path: string): SourceFile {
  return parseSource(path, readFileSync(join(ROOT, path), 'utf8'))
}

/** Separates comments, strings and code of a file. The ending of the path names the language. */
export function parseSource(path: string, text: string): SourceFile {
  const spans = /\.(sh|ya?ml)$/.test(path) ? shellSpans(text) : scriptSpans(text)
  const comments = spans.filter(({ kind }) => kind === 'comment')
  return {
    path,
    text,
    uncommented: blank(text, comments),
    code: blank(text, spans),
    comments: joinLineComments(text, comments),
  }
}

interface Span {
  kind: 'comment' | 'string'
  start: number
  end: number
}

/** Replaces the spans by spaces, so that offsets and line numbers stay the same. */
function blank(text: string, spans: readonly Span[]): string {
  let result = ''
  let at = 0
  for (const { start, end } of spans) {
    result += text.slice(at, start) + text.slice(start, end).replace(/[^\n]/g, ' ')
    at = end
  }
  return result + text.slice(at)
}

function joinLineComments(text: string, spans: readonly Span[]): Comment[] {
  const joined: { start: number; end: number; source: string }[] = []
  for (const { start, end } of spans) {
    const source = text.slice(start, end)
    const last = joined.at(-1)
    const continues = last && !source.startsWith('/*') && /^\n[ \t]*$/.test(text.slice(last.end, start))
    if (continues && !last.source.startsWith('/*')) Object.assign(last, { end, source: `${last.source}\n${source}` })
    else joined.push({ start, end, source })
  }
  return joined.map(({ start, source }) => ({
    line: text.slice(0, start).split('\n').length,
    words: source
      .replace(/\*+\/$/, '')
      .split('\n')
      .map((line) => line.replace(/^\s*(\/\/+|\/\*+|\*|#+!?)\s?/, '').trim())
      .join(' ')
      .trim(),
  }))
}

function shellSpans(text: string): Span[] {
  return [...text.matchAll(/(?<=^|\s)#.*/gm)].map(({ 0: { length }, index }) => ({
    kind: 'comment',
    start: index,
    end: index + length,
  }))
}

/** A slash after one of these begins a regular expression, elsewhere it divides. */
const BEFORE_REGULAR_EXPRESSION = /(^|[(,=:[!&|?{};+\-*%~^>]|\b(return|typeof|case|of|in))\s*$/

/** Finds comments, strings, template texts and regular expressions of JavaScript, CSS and C. */
function scriptSpans(text: string): Span[] {
  const spans: Span[] = []
  /** Number of open braces within each open `${}` of a template. */
  const templates: number[] = []
  let at = 0
  const add = (kind: Span['kind'], start: number, end: number): void => {
    spans.push({ kind, start, end })
    at = end
  }
  const addTemplateText = (): void => {
    const [found] = match(/(?:\\[\s\S]|[^\\`$]|\$(?!\{))*/y, text, at)
    add('string', at, at + found.length)
    if (text[at] === '`') at++
    else if (at < text.length) {
      templates.push(0)
      at += 2
    }
  }
  while (at < text.length) {
    at += match(/[^/'"`{}]*/y, text, at)[0].length
    if (at === text.length) break
    const two = text.slice(at, at + 2)
    const char = text[at]!
    if (two === '//') add('comment', at, at + match(/.*/y, text, at)[0].length)
    else if (two === '/*') add('comment', at, at + match(/\/\*[\s\S]*?(\*\/|$)/y, text, at)[0].length)
    else if (char === "'" || char === '"') {
      const closed = new RegExp(`${char}(?:\\\\[\\s\\S]|[^\\\\\\n${char}])*${char}`, 'y')
      closed.lastIndex = at
      const found = closed.exec(text)
      // Without a closing quote on its line, the quote is an apostrophe of JSX text.
      if (found) {
        add('string', at + 1, at + found[0].length - 1)
        at++
      } else at++
    } else if (char === '`') {
      at++
      addTemplateText()
    } else if (char === '/' && isRegularExpression(text, at)) {
      const found = match(/\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y, text, at)[0]
      if (found) add('string', at + 1, at + Math.max(1, found.length))
      else at++
    } else {
      if (char === '{' && templates.length > 0) templates[templates.length - 1]!++
      at++
      if (char === '}' && templates.length > 0 && templates[templates.length - 1]!-- === 0) {
        templates.pop()
        addTemplateText()
      }
    }
  }
  return spans
}

function isRegularExpression(text: string, at: number): boolean {
  return text[at + 1] !== '>' && BEFORE_REGULAR_EXPRESSION.test(text.slice(Math.max(0, at - 20), at))
}

function match(pattern: RegExp, text: string, at: number): [string] {
  pattern.lastIndex = at
  return [pattern.exec(text)?.[0] ?? '']
}
