import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  Parser,
  parseDocument,
  parse as parseValue,
  stringify,
  visit,
  YAMLMap,
} from 'yaml'
import { reasonOf } from './errors.js'
import { type RefusedFile, readNamedFile } from './named-file.js'

/** Path of a key: names in maps, indexes in lists. */
export type KeyPath = readonly (string | number)[]

/** A parsed YAML file. `value` is null for an empty file, and undefined when there are faults. */
interface YamlFile {
  path: string
  value: unknown
  faults: { line: number | null; reason: string; hint: string }[]
  /** Returns the line of a key, or of its nearest written ancestor. Null when unknown. */
  lineOf(path: KeyPath): number | null
}

/**
 * Size limit of one file. Hooks and the server read files that come with a repository.
 * The YAML library takes quadratic time in some counts, so every count is limited.
 */
export const MAX_BYTES = 64_000
/**
 * About 800 keys with a value: key, colon, value and the spaces between are 7 lexemes.
 * Reading the slowest of 40 texts of this size (commas in brackets) took 53 ms of CPU time.
 */
const MAX_LEXEMES = 6_000
const MAX_DEPTH = 60
/** Maximum number of aliases, because the library walks the whole document for each alias. */
const MAX_ALIASES = 100
/** Number of faults that are listed. An additional entry counts the others. */
const MAX_FAULTS = 20

/**
 * A parsed YAML file with the bytes from which it was parsed.
 * A hash of these bytes is valid for exactly this `value`.
 */
interface YamlRead extends YamlFile {
  /** Bytes of the file. Null when the file could not be read. */
  bytes: Buffer | null
  /** Owner's uid. Null when the file could not be opened. */
  owner: number | null
}

/** Reads and parses a file, opening it once. Never throws: every failure is reported as a fault. */
export function readYaml(path: string): YamlRead {
  const read = readNamedFile(path, { owner: 'anyone', most: MAX_BYTES })
  if ('refused' in read)
    return { ...unusable(path, { line: null, reason: faultOf(read), hint: '' }), bytes: null, owner: null }
  const owner = read.stats.uid
  if (read.more)
    return {
      ...unusable(path, {
        line: null,
        reason: 'is larger than 64 kB',
        hint: 'shorten the file; an agent can have its prompt in its own file: `prompt_file`',
      }),
      bytes: null,
      owner,
    }
  return { ...parseYaml(path, read.bytes.toString('utf8')), bytes: read.bytes, owner }
}

function faultOf({ refused, code }: RefusedFile): string {
  return refused === 'not-a-file' ? 'is not a file' : `cannot be read: ${code ?? refused}`
}

/** Parses a text. Never throws: every error is reported as a fault. */
export function parseYaml(path: string, text: string): YamlFile {
  const tooMuch = limitExceededBy(text)
  if (tooMuch) return unusable(path, { line: null, ...tooMuch })
  try {
    return parse(path, text)
  } catch (error) {
    // The library throws when aliases expand without end.
    return unusable(path, { line: null, reason: reasonOf(error), hint: '' })
  }
}

/**
 * Returns why a text must not be parsed. Null when it may be parsed.
 * The library builds its tree by recursion, and deep nesting overflows the stack.
 * A stack overflow would end the whole process, with no error to catch.
 */
function limitExceededBy(text: string): { reason: string; hint: string } | null {
  const lexemes: string[] = []
  for (const lexeme of new Lexer().lex(text)) {
    if (lexemes.push(lexeme) > MAX_LEXEMES)
      return { reason: 'has more than 6,000 YAML tokens (about 800 keys)', hint: 'remove keys that you do not need' }
  }
  const parser = new Parser()
  for (const lexeme of lexemes) {
    for (const _ of parser.next(lexeme));
    if (parser.stack.length > MAX_DEPTH) return { reason: `is nested more than ${MAX_DEPTH} levels deep`, hint: '' }
  }
  return null
}

function parse(path: string, text: string): YamlFile {
  const lines = new LineCounter()
  const lineAt = (node: Node) => (node.range ? lines.linePos(node.range[0]).line : null)
  // The library's own check for unique keys is quadratic, so it is turned off.
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    logLevel: 'error',
    uniqueKeys: false,
    resolveKnownTags: false,
    schema: 'core',
  })
  const faults: YamlFile['faults'] = [...document.errors, ...document.warnings].map(({ message, pos, code }) => ({
    line: lines.linePos(pos[0]).line,
    reason: message,
    hint: HINTS[code] ?? '',
  }))
  const anchors = new Set<string>()
  let aliases = 0
  visit(document, {
    Node: (_, node) => {
      if (isAlias(node)) {
        aliases++
        if (anchors.has(node.source)) return
        const reason = `\`*${node.source}\` refers to an anchor that does not exist`
        faults.push({ line: lineAt(node), reason, hint: `for a string, add quotes: '*${node.source}'` })
        return
      }
      if (node.anchor) anchors.add(node.anchor)
      if (!isMap(node)) return
      for (const key of repeatedKeys(node))
        faults.push({ line: lineAt(key), reason: 'Map keys must be unique', hint: 'remove one of the two keys' })
    },
  })
  if (faults.length === 0 && aliases > MAX_ALIASES)
    faults.push({
      line: null,
      reason: `has more than ${MAX_ALIASES} aliases`,
      hint: 'write the values without aliases',
    })
  if (faults.length > 0) return unusable(path, ...faults.sort((a, b) => (a.line ?? 0) - (b.line ?? 0)))
  const value: unknown = document.toJS()
  if (isCircular(value))
    return unusable(path, { line: null, reason: 'an anchor contains itself', hint: 'write the values without aliases' })
  return { path, value, faults, lineOf: (key) => lineOf(document, lines, key) }
}

/** Returns the keys of a map that occur before in the same map. */
function repeatedKeys(map: YAMLMap): Node[] {
  const seen = new Set<unknown>()
  return map.items.flatMap(({ key }) => {
    if (!isScalar(key)) return []
    if (seen.has(key.value)) return [key]
    seen.add(key.value)
    return []
  })
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
  TAB_AS_INDENT: 'indent with spaces',
  MULTIPLE_DOCS: 'keep one document: remove the line `---` between them',
}

function unusable(path: string, ...faults: YamlFile['faults']): YamlFile {
  const rest = faults.length - MAX_FAULTS
  const listed = faults.slice(0, MAX_FAULTS)
  if (rest > 0) listed.push({ line: null, reason: `${rest.toLocaleString('en')} more errors`, hint: '' })
  return { path, value: undefined, faults: listed, lineOf: () => null }
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

/**
 * Parses a value from a command line: `70%`, `false`, `[user, agent]`. Throws if it is not YAML.
 */
export function parseYamlValue(written: string): unknown {
  return parseValue(written, { schema: 'core' })
}

/**
 * Sets one value in a YAML text and keeps its comments and order.
 * Replacing a scalar by a scalar changes nothing else.
 * Otherwise the library rewrites the document, which may change spaces and indents.
 * The text must be one that `parseYaml` accepts.
 * Throws when a key is below something that is neither a map nor a list.
 */
export function setYamlValue(text: string, path: KeyPath, value: unknown): string {
  const document = parseDocument(text, { schema: 'core', logLevel: 'error' })
  const before = document.getIn(path, true)
  if (isScalar(before) && before.range && isPlain(before.value) && isPlain(value)) {
    const [start, end] = before.range
    const written = stringify(value, { schema: 'core', lineWidth: 0 }).trimEnd()
    if (start < end && !written.includes('\n')) return `${text.slice(0, start)}${written}${text.slice(end)}`
  }
  // A file with only comments has no contents. Setting a key creates the map.
  for (let length = 1; length < path.length; length++) {
    const node: unknown = document.getIn(path.slice(0, length), true)
    // A key without a value, such as `handoff:`, may become a map.
    if (isScalar(node) && node.value === null) document.setIn(path.slice(0, length), new YAMLMap(document.schema))
    else if (node !== undefined && !isMap(node) && !isSeq(node)) throw new Error(`${path[length - 1]} is not a map`)
  }
  const node = document.createNode(value, { flow: true })
  if (isNode(before) && isNode(node)) Object.assign(node, commentsOf(before))
  document.setIn(path, node)
  return document.toString({ lineWidth: 0, flowCollectionPadding: false })
}

function commentsOf({
  comment,
  commentBefore,
  spaceBefore,
}: Node): Pick<Node, 'comment' | 'commentBefore' | 'spaceBefore'> {
  return {
    ...(comment == null ? {} : { comment }),
    ...(commentBefore == null ? {} : { commentBefore }),
    ...(spaceBefore == null ? {} : { spaceBefore }),
  }
}

const isPlain = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
