import { readFileSync, statSync } from 'node:fs'
import { type Document, isAlias, isMap, isNode, isScalar, isSeq, Lexer, LineCounter, Parser, parseDocument, visit } from 'yaml'
import { reasonOf } from './errors.js'

export type KeyPath = readonly (string | number)[]

/** One YAML file, read. `value` is null for an empty file; with faults it is undefined and must not be used. */
export interface YamlFile {
  path: string
  value: unknown
  faults: { line: number | null; reason: string; hint: string }[]
  /** The line on which a key (or its nearest written ancestor) stands; null: unknown. */
  lineOf(path: KeyPath): number | null
}

const MAX_BYTES = 256_000
const MAX_DEPTH = 60

/** Never throws: whatever keeps the file from being read is a fault. */
export function readYaml(path: string): YamlFile {
  try {
    const stat = statSync(path)
    // A pipe would be waited for without end, and a huge file read whole before it is refused.
    if (!stat.isFile()) return unusable(path, { line: null, reason: 'is not a file', hint: '' })
    if (stat.size > MAX_BYTES) return unusable(path, { line: null, reason: 'is larger than 256 kB', hint: '' })
    return parseYaml(path, readFileSync(path, 'utf8'))
  } catch (error) {
    return unusable(path, { line: null, reason: `cannot be read: ${reasonOf(error)}`, hint: '' })
  }
}

export function parseYaml(path: string, text: string): YamlFile {
  if (nestsTooDeep(text)) return unusable(path, { line: null, reason: `nests more than ${MAX_DEPTH} deep`, hint: '' })
  try {
    return parse(path, text)
  } catch (error) {
    // The library throws where aliases unfold without end.
    return unusable(path, { line: null, reason: reasonOf(error), hint: '' })
  }
}

/** The library builds its tree by recursion, and deep enough a nesting ends the whole process: no error, nothing to catch. */
function nestsTooDeep(text: string): boolean {
  const parser = new Parser()
  for (const lexeme of new Lexer().lex(text)) {
    for (const _ of parser.next(lexeme));
    if (parser.stack.length > MAX_DEPTH) return true
  }
  return false
}

function parse(path: string, text: string): YamlFile {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: 'error' })
  const faults: YamlFile['faults'] = [...document.errors, ...document.warnings].map(({ message, pos, code }) => ({
    line: lines.linePos(pos[0]).line,
    reason: message,
    hint: HINTS[code] ?? '',
  }))
  visit(document, {
    Alias: (_, alias) => {
      if (alias.resolve(document)) return
      const line = alias.range ? lines.linePos(alias.range[0]).line : null
      const reason = `\`*${alias.source}\` refers to an anchor that is not there`
      faults.push({ line, reason, hint: `in quotes it is a text: '*${alias.source}'` })
    },
  })
  if (faults.length > 0) return unusable(path, ...faults)
  const value: unknown = document.toJS()
  if (isCircular(value)) return unusable(path, { line: null, reason: 'an anchor holds itself', hint: 'write the values out' })
  return { path, value, faults, lineOf: (key) => lineOf(document, lines, key) }
}

function isCircular(value: unknown): boolean {
  try {
    JSON.stringify(value)
    return false
  } catch {
    return true
  }
}

const HINTS: Partial<Record<string, string>> = {
  DUPLICATE_KEY: 'write the key once',
  TAB_AS_INDENT: 'indent with spaces',
  MULTIPLE_DOCS: 'keep one document: remove the line `---` between them',
}

function unusable(path: string, ...faults: YamlFile['faults']): YamlFile {
  return { path, value: undefined, faults, lineOf: () => null }
}

function lineOf(document: Document, lines: LineCounter, path: KeyPath): number | null {
  let node: unknown = document.contents
  let offset: number | null = null
  for (const step of path) {
    if (isAlias(node)) node = node.resolve(document)
    let place: unknown
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step))
      place = pair?.key
      node = pair?.value
    } else {
      node = isSeq(node) && typeof step === 'number' ? node.items[step] : undefined
      place = node
    }
    if (!isNode(place)) break
    offset = place.range?.[0] ?? offset
  }
  return offset === null ? null : lines.linePos(offset).line
}
