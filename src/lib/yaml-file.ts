import { readFileSync } from 'node:fs'
import { type Document, isAlias, isMap, isNode, isScalar, isSeq, LineCounter, parseDocument, visit } from 'yaml'
import { codeOf, reasonOf } from './errors.js'

export type KeyPath = readonly (string | number)[]

/** One YAML file, read. `value` is null for an empty file; with faults it is undefined and must not be used. */
export interface YamlFile {
  path: string
  value: unknown
  faults: { line: number | null; reason: string; hint: string }[]
  /** The line on which a key (or its nearest written ancestor) stands; null: unknown. */
  lineOf(path: KeyPath): number | null
}

const MAX_BYTES = 1_000_000

/** Never throws: whatever keeps the file from being read is a fault. */
export function readYaml(path: string): YamlFile {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const reason = codeOf(error) === 'EISDIR' ? 'is a folder, not a file' : `cannot be read: ${reasonOf(error)}`
    return unusable(path, { line: null, reason, hint: '' })
  }
  if (text.length > MAX_BYTES) return unusable(path, { line: null, reason: 'is larger than 1 MB', hint: '' })
  return parseYaml(path, text)
}

export function parseYaml(path: string, text: string): YamlFile {
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
      faults.push({
        line,
        reason: `\`*${alias.source}\` refers to an anchor that is not there`,
        hint: `in quotes it is a text: '*${alias.source}'`,
      })
    },
  })
  if (faults.length > 0) return { ...unusable(path), faults }
  try {
    return { path, value: document.toJS(), faults, lineOf: (key) => lineOf(document, lines, key) }
  } catch (error) {
    // The library refuses aliases that unfold without end.
    return unusable(path, { line: null, reason: reasonOf(error), hint: '' })
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
