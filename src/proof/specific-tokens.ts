/**
 * Longest text of which tokens are taken. A longer one is a file without lines, such as a bundle.
 */
const LONGEST_TEXT = 2_000_000
/** Shortest and longest token that counts. Shorter names occur by chance, longer ones are data. */
const SHORTEST = 8
const LONGEST = 200

/** Runs of characters that paths, numbers and identifiers consist of. */
const RUN = /[A-Za-z0-9_.~@/$+#-]{8,}/g
const EDGES = /^(?:\.{1,2}\/|\/\/|[.@$+#-])+|[.~@/$+#-]+$/g
const NUMBER = /^\d[\d._-]{6,}\d$/
/** Endings by which a name is a file: `time.Now` and `Promise.all` are members of something. */
const FILE_NAME = new RegExp(
  String.raw`^[\w@+.-]*[A-Za-z0-9_]\.(?:[cm]?[jt]sx?|json[lc5]?|md|mdx|txt|rst|ya?ml|toml|ini|cfg|conf|env|lock|` +
    'go|mod|sum|rs|py|pyi|ipynb|rb|erb|php|java|kts?|swift|scala|cs|fs|vb|c|h|cc|cpp|hpp|m|mm|zig|ex|exs|erl|' +
    'hs|lua|pl|r|jl|dart|sh|bash|zsh|fish|ps1|bat|sql|db|sqlite|csv|tsv|xml|html?|s?css|less|svg|png|jpe?g|gif|' +
    'webp|pdf|vue|svelte|astro|proto|graphql|gql|tf|hcl|gradle|cmake|log|patch|diff|tmpl|snap|zip|gz|tgz|wasm)$',
)
/** An identifier shows that it is no word: an underscore, a digit or an inner capital. */
const IDENTIFIER = /^(?=.*[A-Za-z])[A-Za-z0-9_$][\w$-]*$/
const NO_WORD = /_|\d|[a-z][A-Z]/
const MAIL = /@.+\./

/**
 * Names that most repositories have, so an agent uses them without having read them.
 */
const COMMON = new Set([
  'package.json',
  'package-lock.json',
  'node_modules',
  'tsconfig.json',
  'pyproject.toml',
  'requirements.txt',
  'docker-compose.yml',
  'README.md',
  'CHANGELOG.md',
  'CLAUDE.md',
  'AGENTS.md',
  'Cargo.toml',
  'gitignore',
  'localhost',
  '127.0.0.1',
  'index.js',
  'index.ts',
  'index.tsx',
  'index.html',
])

/**
 * Calls `onToken` for every path, number and identifier of a text, repeated ones too.
 * Plain words are no tokens, because a successor does not need them literally.
 * Paths below `root` are given relative to it. `root` is null when the folder is unknown.
 */
export function eachToken(text: string, root: string | null, onToken: (token: string) => void): void {
  const read = text.length > LONGEST_TEXT ? text.slice(0, LONGEST_TEXT) : text
  for (const [run] of read.matchAll(RUN)) {
    const token = trim(run, root)
    if (token === null) continue
    if (isSpecific(token)) onToken(token)
    else if (token.includes('.') && !token.includes('/'))
      for (const part of token.split('.')) if (isLongEnough(part) && isSpecific(part)) onToken(part)
  }
}

export function tokensIn(text: string, root: string | null): Set<string> {
  const found = new Set<string>()
  eachToken(text, root, (token) => found.add(token))
  return found
}

const isLongEnough = (token: string): boolean => token.length >= SHORTEST && token.length <= LONGEST

/** Removes punctuation and `root` from a run of characters. Null when nothing specific is left. */
function trim(run: string, root: string | null): string | null {
  if (run.length > LONGEST + (root?.length ?? 0)) return null
  const token = run.replace(EDGES, '')
  if (root === null) return isLongEnough(token) ? token : null
  if (root.startsWith(token) && (token === root || root[token.length] === '/')) return null
  const below = token.startsWith(`${root}/`) ? token.slice(root.length + 1) : token
  return isLongEnough(below) ? below : null
}

function isSpecific(token: string): boolean {
  if (COMMON.has(token) || MAIL.test(token)) return false
  if (token.includes('/')) return isPath(token)
  return NUMBER.test(token) || FILE_NAME.test(token) || (IDENTIFIER.test(token) && NO_WORD.test(token))
}

/** True for a path, and not for alternatives such as "input/output" or a device. */
function isPath(token: string): boolean {
  if (token.startsWith('/dev/') || /\/\/|[#$+]{2}/.test(token)) return false
  return /^[~/]/.test(token) || token.split('/').length > 2 || /[\d_.-]|[a-z][A-Z]/.test(token)
}

const PART_OF_WORD = /[A-Za-z0-9_]/

/** True when a text contains the token as a word of its own, or as the end of a longer path. */
export function hasToken(text: string, token: string): boolean {
  for (let at = text.indexOf(token); at >= 0; at = text.indexOf(token, at + 1)) {
    const before = text[at - 1] ?? ' '
    const after = text[at + token.length] ?? ' '
    if (!PART_OF_WORD.test(before) && !PART_OF_WORD.test(after)) return true
  }
  return false
}
