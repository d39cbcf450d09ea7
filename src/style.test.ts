import { basename, dirname } from 'node:path'
import { describe, expect, test } from 'vitest'
import { LAYERS, listFiles, parseSource, readSource, type SourceFile } from './testing/source-files.js'

const FOLDERS = ['src', 'web/src', 'test', 'bench', 'scripts', 'examples']
const WRITTEN = /\.([cm]?[jt]s|tsx|css|sh|c)$/
/** Folders of recorded payloads. Their content is data of the clients. */
const RECORDED = /^test\/fixtures\//

/** Names of types that say nothing about their content. */
const TYPE_NAMES =
  'Draft Desk LeaveDesk KeepDesk CallDesk Around Known Ground Surroundings Wish Told Asked Hands Ears Rooms House ' +
  'Parts Patient Welcome Letter Trial Heard'
/** Names that no variable, function, property or parameter may have. */
const NAMES = 'hush deaf calm unhurt rides lets letGo takesNoMore keptForNothing isUnawaited goOnWith hooked trial'
/**
 * Words that are fine for values ("the tool calls", "what is left") but say nothing as functions.
 */
const FUNCTION_NAMES = 'calls began measured left says heard told'
/** Names of files that say nothing about their content. A folder or stylesheet may use them. */
const FILE_NAMES =
  'around known desk draft parts wake overlooked found-later of-job said-to-job hands rooms shown doors patient ' +
  'instruments among own carried settled faces behind nothing places trial'

const anyOf = (words: string): string => `(?:${words.split(' ').join('|')})`
const PARAMETERS = String.raw`\((?:[^()]|\([^()]*\))*\)`

/** Calls and imports of `it`. */
const IT =
  String.raw`(?<![.\w])it(?:\.(?:each|for|skipIf|runIf|concurrent|only|skip|todo|fails)\b[^\n]*)?\(|` +
  String.raw`import \{[^}\n]*\bit\b[^}\n]*\} from`
/** A test that is run alone, left out, expected to fail or tried again. */
const UNUSUAL =
  String.raw`\b(?:test|describe|context)\.(?:only|skip|todo|fails)\b|` +
  String.raw`\b(?:test|describe)\b[^\n]*, \{[^}\n]*\bretry:`

interface Rule {
  /** The finding, as a statement about the file. */
  name: string
  /** Returns the line numbers that break the rule. */
  find(file: SourceFile): number[]
  /** Samples that break the rule, and samples that keep it. Absent path: `src/lib/sample.ts`. */
  breaks: Sample[]
  keeps: Sample[]
}
type Sample = string | { path: string; text: string }

const RULES: Rule[] = [
  {
    name: 'a comment begins with a pronoun instead of its subject',
    find: ({ comments }) =>
      comments.filter(({ words }) => /^(It|One|What|Of|Whoever|Whatever)\b/.test(words)).map(({ line }) => line),
    breaks: [
      '/** It is the size. */',
      '/**\n * Of a job: the size.\n */',
      'a() // What it says.',
      'a() /* One size. */',
      '// Whoever waits.',
      { path: 'scripts/sample.sh', text: 'ls # Whatever is there' },
      { path: 'web/src/styles/sample.css', text: '/* What is shown */' },
    ],
    keeps: [
      '/** The size. It is in bytes. */',
      '// The size of a job\n// One line for each job.',
      "const text = '// It is a string'",
      'const text = `\n// It is a template\n`',
      '/** Often, or once. */',
    ],
  },
  {
    // A directive of the linter takes one line, however long its reason is.
    name: 'a line of comment has more than 100 columns',
    find: ({ text, code, uncommented }) => {
      const [source, rest, written] = [text.split('\n'), code.split('\n'), uncommented.split('\n')]
      return linesWhere(source, (line, at) => {
        const isComment = rest[at]!.trim() === '' && written[at]!.trim() === ''
        return isComment && line.length > 100 && !line.includes('biome-ignore')
      })
    },
    breaks: [`// ${'word '.repeat(20)}`, `/**\n * ${'word '.repeat(20)}\n */`],
    keeps: [`// ${'word '.repeat(19)}`, `const text =\n  '${'word '.repeat(22)}'`, `\`\n${'word '.repeat(22)}\n\``],
  },
  {
    name: 'a line has more than 120 columns',
    find: ({ text }) => linesWhere(text.split('\n'), (line) => line.length > 120),
    breaks: [`const text = '${'word '.repeat(22)}'`],
    keeps: [`const text = '${'word '.repeat(21)}'`],
  },
  {
    name: 'a type has a name that says nothing about its content',
    find: ({ code }) => linesMatching(code, `\\b(?:interface|type|class|enum) ${anyOf(TYPE_NAMES)}\\b`),
    breaks: ['interface Known {}', 'export type Ground = string', 'class Desk {}'],
    keeps: ['interface KnownCall {}', 'type BackgroundColor = string', "const text = 'interface Known'"],
  },
  {
    name: 'a type of displayed data is named …Shown instead of …View',
    find: ({ code }) => linesMatching(code, '\\b(?:interface|type|class) \\w*Shown\\b|\\bas \\w+Shown\\b'),
    breaks: ['interface JobShown {}', 'export type Shown = string', "import { Brief as BriefShown } from './a.js'"],
    keeps: ['interface JobView {}', 'const isShown = true', "const text = 'type JobShown'"],
  },
  {
    name: 'a variable, function or property has a private or colloquial name',
    find: ({ code }) => linesMatching(code, `\\b${anyOf(NAMES)}\\b(?=\\s*[=(:,;.)\\]}?])|\\.${anyOf(NAMES)}\\b`),
    breaks: ['const deaf = listen()', 'parts.hush()', 'const trial = 1', '{ lets: true }'],
    keeps: ["const text = 'lets go'", '// calm', '<p>baton open lets it in</p>'],
  },
  {
    name: 'a function is called by a word that is fine for values only',
    find: ({ code }) =>
      linesMatching(
        code,
        [
          `\\bfunction\\*? ${anyOf(FUNCTION_NAMES)}\\b`,
          `\\b(?:const|let) ${anyOf(FUNCTION_NAMES)}(?:: [^=]+)? = (?:async )?` +
            `(?:${PARAMETERS}(?:: [^={\\n]+)?|\\w+) =>`,
          `^\\s*(?:readonly |async )*${anyOf(FUNCTION_NAMES)}\\??(?:: )?(?:<[^>\\n]*>)?${PARAMETERS}(?::| =>| \\{)`,
        ].join('|'),
      ),
    breaks: [
      'function says(a: string) {}',
      'const left = (): void => stop()',
      'const left = async (a: string, b: () => void) => stop()',
      'interface Options {\n  heard?: (text: string) => void\n}',
      'interface Options {\n  calls(text: string): void\n}',
      'class Options {\n  began() {}\n}',
    ],
    keeps: ['const calls = message.tool_calls', 'const left = total - shown', 'const began = now()', '  left()'],
  },
  {
    name: 'a file has a name that says nothing about its content',
    find: ({ path }) => (/\.css$/.test(path) || !named(path, FILE_NAMES) ? [] : [1]),
    breaks: [
      { path: 'src/engine/around.ts', text: '' },
      { path: 'src/lib/own.process.test.ts', text: '' },
      { path: 'test/harness/trial-home.ts', text: '' },
    ],
    keeps: [
      { path: 'src/lib/own-program.ts', text: '' },
      { path: 'web/src/parts/gauge.tsx', text: '' },
      { path: 'web/src/styles/parts.css', text: '' },
    ],
  },
  {
    name: 'a literal is spread into a list or an object',
    find: ({ code }) => linesMatching(code, '\\.\\.\\.(?:\\{|\\[[\'"`\\d][^\\]]*\\](?!\\s*\\.))'),
    breaks: ['const a = { ...{ b, c }, d }', "const a = [...['x', 'y'], z]"],
    keeps: ['const a = { ...b }', 'const a = [...[...b].sort()]', 'call(...(a ? [a] : []))', "[...['a'].map(b)]"],
  },
  {
    name: 'a test is written as `it`',
    find: ({ path, code }) => (isTest(path) ? linesMatching(code, IT) : []),
    breaks: [
      { path: 'src/lib/sample.test.ts', text: "it('returns the size of a file', () => {})" },
      { path: 'src/lib/sample.test.ts', text: "it.each(rows)('returns the size of a file', () => {})" },
    ],
    keeps: [{ path: 'src/lib/sample.test.ts', text: "test('does it (or not) work here', () => visit(1))" }],
  },
  {
    name: 'the name of a test has fewer than four words',
    find: (file) => (isTest(file.path) ? shortTestNames(file) : []),
    breaks: [
      { path: 'src/lib/sample.test.ts', text: "test('returns the size', () => {})" },
      { path: 'src/lib/sample.test.ts', text: "test.each([\n  ['a', f(1)],\n])('size of %s', () => {})" },
      { path: 'src/lib/sample.test.ts', text: "test.skipIf(isRoot)(\n  'returns the size',\n  () => {},\n)" },
    ],
    keeps: [
      { path: 'src/lib/sample.test.ts', text: "test('a file has a size', () => {})" },
      { path: 'src/lib/sample.test.ts', text: `test(\`the size of \${a} is known\`, () => {})` },
      { path: 'src/lib/sample.test.ts', text: "expect(/a/.test('b')).toBe(true)" },
    ],
  },
  {
    name: 'a test is repeated, left out or run alone',
    find: ({ path, code }) => (isTest(path) ? linesMatching(code, UNUSUAL) : []),
    breaks: [
      { path: 'src/lib/sample.test.ts', text: "test.only('a file has a size', () => {})" },
      { path: 'src/lib/sample.test.ts', text: "describe.skip('files', () => {})" },
      { path: 'src/lib/sample.test.ts', text: "test.todo('a file has a size')" },
      { path: 'src/lib/sample.test.ts', text: "test('a file has a size', { retry: 2 }, () => {})" },
    ],
    keeps: [{ path: 'src/lib/sample.test.ts', text: "test('a retry: or test.only in a name', () => {})" }],
  },
]

const files = FOLDERS.flatMap((folder) => listFiles(folder, WRITTEN))
  .filter((path) => !RECORDED.test(path))
  .map(readSource)

describe('the writing rules', () => {
  test('the style rules read the source files of every folder', () => {
    for (const folder of FOLDERS) expect(files.some(({ path }) => path.startsWith(`${folder}/`))).toBe(true)
    expect(files.length).toBeGreaterThan(1000)
  })

  test.each(RULES)('no file breaks the rule: $name', ({ find }) => {
    const found = files.flatMap((file) => find(file).map((line) => `${file.path}:${line}`))
    expect(found.join('\n')).toBe('')
  })

  test.each(RULES)('the rule finds its samples and nothing else: $name', ({ find, breaks, keeps }) => {
    const count = (sample: Sample): number => find(parseSample(sample)).length
    expect(breaks.filter((sample) => count(sample) !== 1)).toEqual([])
    expect(keeps.filter((sample) => count(sample) !== 0)).toEqual([])
  })
})

describe('file names', () => {
  test('a file name occurs at most once in each layer', () => {
    const paths = files.map(({ path }) => path)
    expect(LAYERS.flatMap((layer) => repeatedNames(paths, layer))).toEqual([])
  })

  test('two files of one name in a layer are found, and two in different layers are not', () => {
    const paths = [
      'src/store/sqlite/open.ts',
      'src/archive/open.ts',
      'src/agents/codex/open.ts',
      'src/engine/open.ts',
      'src/store/open.test.ts',
    ]
    expect(repeatedNames(paths, LAYERS[2]!)).toEqual(['src/archive/open.ts = src/store/sqlite/open.ts'])
    expect(repeatedNames(paths, LAYERS[3]!)).toEqual([])
    expect(repeatedNames(['src/store/index.ts', 'src/archive/index.ts'], LAYERS[2]!)).toEqual([])
  })
})

function isTest(path: string): boolean {
  return /\.(test|cases)\.tsx?$/.test(path)
}

/** True when a file's name without its endings is one of the words, or begins with `trial`. */
function named(path: string, words: string): boolean {
  const stem = basename(path).split('.', 1)[0]!
  return words.split(' ').includes(stem) || stem.startsWith('trial')
}

function parseSample(sample: Sample): SourceFile {
  return typeof sample === 'string' ? parseSource('src/lib/sample.ts', sample) : parseSource(sample.path, sample.text)
}

function linesWhere(lines: readonly string[], isWrong: (line: string, index: number) => boolean): number[] {
  return lines.flatMap((line, index) => (isWrong(line, index) ? [index + 1] : []))
}

function linesMatching(code: string, pattern: string): number[] {
  return [...code.matchAll(new RegExp(pattern, 'gm'))].map(({ 0: found, index }) => {
    const start = index + found.length - found.trimStart().length
    return code.slice(0, start).split('\n').length
  })
}

/** Returns the lines of tests whose name is a text of fewer than four words. */
function shortTestNames({ code, text }: SourceFile): number[] {
  const found: number[] = []
  for (const { 0: start, index } of code.matchAll(/(?<![.\w])test(?:\.\w+)*(?=\()/g)) {
    let at = index + start.length
    // `test.each(rows)(name, …)`: the name is in the second pair of brackets.
    const next = closingBracket(code, at) + 1
    if (code[next] === '(') at = next
    const name = /^\(\s*(['"`])([\s\S]*?)\1\s*,/.exec(text.slice(at))?.[2]
    if (name !== undefined && name.trim().split(/\s+/).length < 4) found.push(text.slice(0, index).split('\n').length)
  }
  return found
}

/** Returns the offset of the bracket that closes the one at the given offset. */
function closingBracket(code: string, open: number): number {
  let depth = 0
  for (let at = open; at < code.length; at++) {
    if (code[at] === '(') depth++
    if (code[at] === ')' && --depth === 0) return at
  }
  return code.length
}

/**
 * Returns the pairs of files in one layer of src that have the same name. The folder of an agent
 * counts as a layer of its own, because it repeats the names of the interfaces that it implements.
 */
function repeatedNames(paths: readonly string[], layer: readonly string[]): string[] {
  const first = new Map<string, string>()
  const pairs: string[] = []
  for (const path of [...paths].sort()) {
    const module = /^src\/([^/]+)/.exec(path)?.[1]
    const isForTests = isTest(path) || /\/fixtures\//.test(path)
    const isCounted = !isForTests && basename(path) !== 'index.ts' && dirname(path) !== 'src'
    if (!module || !layer.includes(module) || !isCounted) continue
    const name = `${/^src\/agents\/([^/]+)\//.exec(path)?.[1] ?? ''} ${basename(path)}`
    const other = first.get(name)
    if (other) pairs.push(`${other} = ${path}`)
    else first.set(name, path)
  }
  return pairs
}
