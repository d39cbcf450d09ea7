import { wordsFromVerb } from './git.js'
import { baseName, resolvePath } from './paths.js'
import { parseCommandLine, programOf, type ShellRun, type ShellWord } from './shell.js'

interface ShellChange {
  path: string
  removed: boolean
}

/**
 * Files that a command line evidently read, wrote, moved or removed, without access to the disk.
 */
interface ShellFiles {
  changed: ShellChange[]
  /** Files that git set back to their committed content. */
  restored: string[]
  read: string[]
}

/** Quick filter: parsing other commands cannot find any file. */
const EVIDENT = new RegExp(
  String.raw`>|\b(?:sed|perl|mv|rm|cp|tee|touch|ln|truncate|dd|git|curl|wget|cat|head|tail|less|more|nl|bat|` +
    String.raw`unlink|rsync|install|patch|awk)\b`,
)

export function filesOf(command: string, cwd: string | null, failed: boolean, output: string): ShellFiles {
  if (failed) return readFiles(command, cwd, true, output)
  const key = `${cwd}\n${command}`
  const cached = cache.get(key)
  if (cached !== undefined) return cached
  if (cache.size >= MOST_CACHED) cache.clear()
  const files = readFiles(command, cwd, false, '')
  cache.set(key, files)
  return files
}

/** Cached, because the same commands run again and again. */
const cache = new Map<string, ShellFiles>()
const MOST_CACHED = 200

function readFiles(command: string, cwd: string | null, failed: boolean, output: string): ShellFiles {
  const files: ShellFiles = { changed: [], restored: [], read: [] }
  if (!EVIDENT.test(command)) return files
  let here = cwd
  const runs = parseCommandLine(command)
  runs.forEach((run, i) => {
    const words = programOf(run)
    const program = baseName(words[0]?.text ?? '')
    if (program === 'cd' || program === 'pushd') {
      const to = words[1]
      here = to === undefined || to.open ? null : resolvePath(to.text, here)
      return
    }
    // When a list failed, its last program and those with an error message did nothing.
    // Files after `>` changed all the same, unless `&&` kept the program from starting.
    const done = !failed || (i < runs.length - 1 && !complains(program, output))
    const at = (word: ShellWord): string[] => (isPath(word) ? [resolvePath(word.text, here)] : [])
    for (const { to } of run.redirects) {
      for (const path of at(to)) if (done || run.after !== '&&') files.changed.push({ path, removed: false })
    }
    if (!done) return
    const told = touchedFiles(program, words.slice(1), run)
    for (const word of told.removed) for (const path of at(word)) files.changed.push({ path, removed: true })
    for (const word of told.written) for (const path of at(word)) files.changed.push({ path, removed: false })
    for (const word of told.restored ?? []) files.restored.push(...at(word))
    for (const word of told.read) files.read.push(...at(word))
  })
  return files
}

function complains(program: string, output: string): boolean {
  return new RegExp(`^(?:\\S*/)?${program.replace(/\W/g, '\\$&')}: |^(?:fatal|error): `, 'm').test(output)
}

function isPath({ text, open }: ShellWord): boolean {
  return (
    !open && text !== '' && text !== '-' && !text.startsWith('/dev/') && !/^\w+:\/\//.test(text) && !/[\n]/.test(text)
  )
}

interface TouchedFiles {
  written: ShellWord[]
  removed: ShellWord[]
  read: ShellWord[]
  restored?: ShellWord[]
}

const NOTHING: TouchedFiles = { written: [], removed: [], read: [] }

function touchedFiles(program: string, args: ShellWord[], run: ShellRun): TouchedFiles {
  const plain = operands(args)
  switch (program) {
    case 'sed':
      return sed(args)
    case 'perl':
      return args.some(({ text }) => /^-\w*i/.test(text))
        ? { ...NOTHING, written: scriptOperands(args, /^-\w*[eE]$/) }
        : NOTHING
    case 'mv':
      return { ...NOTHING, removed: plain.slice(0, -1), written: copyTargets(plain) }
    case 'cp':
    case 'ln':
    case 'rsync':
    case 'install':
      return isTree(args) ? NOTHING : { ...NOTHING, written: copyTargets(plain) }
    case 'rm':
    case 'unlink':
      return isTree(args) ? { ...NOTHING, removed: plain.filter(looksLikeFile) } : { ...NOTHING, removed: plain }
    case 'tee':
    case 'touch':
      return { ...NOTHING, written: plain }
    case 'truncate':
      return { ...NOTHING, written: optionOperands(args, /^(?:-s|--size)$/) }
    case 'dd':
      return {
        ...NOTHING,
        written: args.flatMap(({ text, open }) => (text.startsWith('of=') ? [{ text: text.slice(3), open }] : [])),
      }
    case 'curl':
      return { ...NOTHING, written: valueAfter(args, /^(?:-o|--output)$/) }
    case 'wget':
      return { ...NOTHING, written: valueAfter(args, /^(?:-O|--output-document)$/) }
    case 'git':
      return git(args)
    case 'cat':
    case 'nl':
    case 'bat':
    case 'less':
    case 'more':
      return run.after === '|' ? NOTHING : { ...NOTHING, read: plain }
    case 'head':
    case 'tail':
      return run.after === '|' ? NOTHING : { ...NOTHING, read: optionOperands(args, /^(?:-n|-c|--lines|--bytes)$/) }
    default:
      return NOTHING
  }
}

function sed(args: ShellWord[]): TouchedFiles {
  const inPlace = args.some(({ text }) => /^(?:-i|--in-place|-[nErs]*i)/.test(text))
  // The sed of BSD takes the suffix of the backup as a separate word: `sed -i '' s/a/b/ file`.
  const words = args.filter(({ text }, i) => text !== '' || args[i - 1]?.text !== '-i')
  const files = scriptOperands(words, /^(?:-e|-f|--expression|--file)$/).filter(({ text }) => text !== '')
  return inPlace ? { ...NOTHING, written: files } : { ...NOTHING, read: files }
}

function git(args: ShellWord[]): TouchedFiles {
  const rest = wordsFromVerb(args)
  const plain = operands(rest.slice(1))
  switch (rest[0]?.text) {
    case 'mv':
      return { ...NOTHING, removed: plain.slice(0, -1), written: copyTargets(plain) }
    case 'rm':
      return rest.some(({ text }) => text === '--cached')
        ? NOTHING
        : { ...NOTHING, removed: plain.filter(looksLikeFile) }
    case 'restore':
      return rest.some(({ text }) => text === '--staged')
        ? NOTHING
        : { ...NOTHING, restored: plain.filter(looksLikeFile) }
    case 'checkout': {
      const dashes = rest.findIndex(({ text }) => text === '--')
      return dashes < 0 ? NOTHING : { ...NOTHING, restored: rest.slice(dashes + 1).filter(looksLikeFile) }
    }
    default:
      return NOTHING
  }
}

/**
 * Returns the targets of a copy or move.
 * Several files go into a folder under their own names.
 * A single target counts as a folder only when it ends with a slash.
 */
function copyTargets(plain: ShellWord[]): ShellWord[] {
  const last = plain.at(-1)
  if (last === undefined || plain.length < 2) return []
  const folder = plain.length > 2 || /\/$|^\.{1,2}$/.test(last.text)
  if (!folder) return [last]
  const under = last.text.replace(/\/+$/, '')
  return plain.slice(0, -1).map(({ text, open }) => ({ text: `${under}/${baseName(text)}`, open: open || last.open }))
}

const looksLikeFile = ({ text }: ShellWord): boolean =>
  /\.\w+$/.test(baseName(text)) || /^(?:Makefile|Dockerfile|LICENSE)$/.test(baseName(text))
const isTree = (args: ShellWord[]): boolean =>
  args.some(({ text }) => /^-\w*[rRa]|^--(?:recursive|archive)$/.test(text))

function operands(args: ShellWord[]): ShellWord[] {
  const dashes = args.findIndex(({ text }) => text === '--')
  const before = dashes < 0 ? args : args.slice(0, dashes)
  return [...before.filter(({ text }) => !text.startsWith('-')), ...(dashes < 0 ? [] : args.slice(dashes + 1))]
}

/** Returns the operands, where some options take the next word as their value. */
function optionOperands(args: ShellWord[], valued: RegExp): ShellWord[] {
  return operands(args.filter((_, i) => !valued.test(args[i - 1]?.text ?? '')))
}

/** Returns the operands after the script, which is the first one unless an option gave it. */
function scriptOperands(args: ShellWord[], valued: RegExp): ShellWord[] {
  const given = args.some(({ text }) => valued.test(text))
  const rest = optionOperands(args, valued)
  return given ? rest : rest.slice(1)
}

function valueAfter(args: ShellWord[], option: RegExp): ShellWord[] {
  return args.filter((_, i) => option.test(args[i - 1]?.text ?? ''))
}
