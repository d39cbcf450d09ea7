/** A program of a command line: its words, its redirections, and the operator before it. */
export interface ShellRun {
  words: ShellWord[]
  redirects: { append: boolean; to: ShellWord }[]
  /**
   * The operator before the program. Empty for the beginning or `;`, after which it always runs.
   */
  after: '' | '&&' | '||' | '|'
}

/** A word of a command line. */
export interface ShellWord {
  text: string
  /**
   * True when the word contains variables, substitutions or patterns, so its value is not evident.
   */
  open: boolean
}

const KEYWORDS = new Set([
  'if',
  'then',
  'else',
  'elif',
  'fi',
  'do',
  'done',
  'while',
  'until',
  'for',
  '{',
  '}',
  '!',
  'time',
  'esac',
])
const WRAPPERS = new Set(['sudo', 'env', 'command', 'nohup', 'exec', 'time', 'nice', 'builtin'])

/**
 * Parses a command line as a shell would, as far as it is evident:
 * quotes, lists, pipes, redirections and here-documents.
 * Never throws. Unsupported syntax (functions, case) yields words that no rule recognises.
 */
export function parseCommandLine(command: string): readonly ShellRun[] {
  const known = parsed.get(command)
  if (known !== undefined) return known
  const reader = new ShellReader(command)
  reader.read()
  if (parsed.size >= MOST_READ) parsed.clear()
  parsed.set(command, reader.runs)
  return reader.runs
}

/** Cached, because several watchers read the same command and commands are repeated. */
const parsed = new Map<string, readonly ShellRun[]>()
const MOST_READ = 100

/** Characters without a special meaning. */
const PLAIN = /[^\s\\'"`$#;&|()<>*?{[]+/y

/**
 * Returns the words of a run from its program on, without assignments and wrappers such as sudo.
 */
export function programOf(run: ShellRun): ShellWord[] {
  const { words } = run
  let at = 0
  while (at < words.length) {
    const first = words[at]!.text
    if (/^\w+=/.test(first) || KEYWORDS.has(first) || WRAPPERS.has(first)) at++
    else if (first === 'timeout') at += 2
    else break
  }
  return words.slice(at)
}

class ShellReader {
  readonly runs: ShellRun[] = []
  private at = 0
  private run: ShellRun = { words: [], redirects: [], after: '' }
  private word: ShellWord | null = null
  /** Delimiters of the here-documents that begin on the next line. */
  private readonly documents: { end: string; indented: boolean }[] = []
  private redirect: { append: boolean } | null = null
  /** Names of here-documents that were searched for and have no end. */
  private readonly endless = new Set<string>()

  constructor(private readonly text: string) {}

  read(): void {
    while (this.at < this.text.length) this.step(this.text[this.at]!)
    this.endRun('')
  }

  private step(char: string): void {
    const { text } = this
    PLAIN.lastIndex = this.at
    const plain = PLAIN.exec(text)
    if (plain !== null) {
      this.add(plain[0])
      this.at += plain[0].length
      return
    }
    const two = text.slice(this.at, this.at + 2)
    if (char === '\\') {
      if (text[this.at + 1] !== '\n') this.add(text[this.at + 1] ?? '')
      this.at += 2
    } else if (char === "'") {
      const end = text.indexOf("'", this.at + 1)
      const stop = end < 0 ? text.length : end
      this.add(text.slice(this.at + 1, stop))
      this.at = stop + 1
    } else if (char === '"') this.quoted()
    else if (char === '`' || two === '$(' || two === '${') this.substitution()
    else if (char === '#' && this.word === null) this.at = this.lineEnd()
    else if (char === '\n') this.newline()
    else if (char === ' ' || char === '\t') {
      this.endWord()
      this.at++
    } else if (two === '&&' || two === '||') {
      this.endRun(two)
      this.at += 2
    } else if (char === ';' || char === '(' || char === ')') {
      this.endRun('')
      this.at++
    } else if (char === '|') {
      this.endRun('|')
      this.at += text[this.at + 1] === '&' ? 2 : 1
    } else if (char === '<' || char === '>' || two === '&>') this.redirection()
    else if (char === '&') {
      this.endRun('')
      this.at++
    } else {
      this.add(char, char === '$' || char === '*' || char === '?' || char === '{' || char === '[')
      this.at++
    }
  }

  private quoted(): void {
    const { text } = this
    this.add('')
    this.at++
    while (this.at < text.length && text[this.at] !== '"') {
      const char = text[this.at]!
      if (char === '\\') {
        const next = text[this.at + 1] ?? ''
        this.add('"\\$`'.includes(next) ? next : next === '\n' ? '' : `\\${next}`)
        this.at += 2
      } else if (char === '`' || (char === '$' && '({'.includes(text[this.at + 1] ?? ' '))) this.substitution()
      else {
        this.add(char, char === '$')
        this.at++
      }
    }
    this.at++
  }

  /** Kept verbatim, so that a message from `$(cat <<EOF …)` can be found in it. */
  private substitution(): void {
    const { text } = this
    const start = this.at
    if (text[start] === '`') {
      const end = text.indexOf('`', start + 1)
      this.at = end < 0 ? text.length : end + 1
    } else {
      const [open, close] = text[start + 1] === '(' ? ['(', ')'] : ['{', '}']
      let depth = 0
      let pos = start + 1
      for (; pos < text.length; pos++) {
        if (text[pos] === open) depth++
        else if (text[pos] === close && --depth === 0) break
        else if (text[pos] === '<' && text.startsWith('<<', pos) && text[pos + 2] !== '<')
          pos = this.pastDocument(pos) - 1
      }
      this.at = pos + 1
    }
    this.add(text.slice(start, this.at), true)
  }

  /**
   * Returns the position behind the here-document that starts at `at`.
   * When the here-document has no end, returns the position behind its operator.
   */
  private pastDocument(at: number): number {
    const sign = /^<<-?\s*(['"]?)([\w.-]+)\1/.exec(this.text.slice(at, at + 100))
    if (sign === null) return at + 2
    const name = sign[2]!
    const rest = this.endless.has(name) ? '' : this.text.slice(at)
    const end = new RegExp(`\\n[ \\t]*${name.replace(/[.-]/g, '\\$&')}[ \\t]*(?=\\n|$|\\))`).exec(rest)
    if (end !== null) return at + end.index + end[0].length
    this.endless.add(name)
    return at + sign[0].length
  }

  private redirection(): void {
    const { text } = this
    const both = text[this.at] === '&'
    // A number before the operator is a file descriptor, not a word.
    if (!both && this.word !== null && /^\d+$/.test(this.word.text)) this.word = null
    this.endWord()
    const op = /^(?:&>>|&>|<<<|<<-?|<>|<&|<\(|<|>>|>\||>&|>\(|>)/.exec(text.slice(this.at, this.at + 3))?.[0] ?? '<'
    this.at += op.length
    if (op === '<<' || op === '<<-') {
      this.document(op === '<<-')
      return
    }
    if (op === '<(' || op === '>(') {
      this.endRun('')
      return
    }
    if (op === '>&' || op === '<&') {
      const to = /^\s*(?:\d+|-)/.exec(text.slice(this.at, this.at + 20))
      if (to !== null) {
        this.at += to[0].length
        return
      }
    }
    this.redirect = op.includes('>') && op !== '<>' ? { append: op.includes('>>') } : null
    if (this.redirect === null) this.skipTarget()
  }

  /** Skips the source of an input redirection, which is no argument. */
  private skipTarget(): void {
    const { words } = this.run
    const before = words.length
    while (this.text[this.at] === ' ') this.at++
    while (this.at < this.text.length && !/[\s;|&<>()]/.test(this.text[this.at]!)) this.step(this.text[this.at]!)
    this.endWord()
    words.splice(before)
  }

  private document(indented: boolean): void {
    const end = /^\s*(?:'([^'\n]+)'|"([^"\n]+)"|\\?([^\s;|&<>()]+))/.exec(this.text.slice(this.at, this.at + 200))
    if (end === null) return
    this.at += end[0].length
    this.documents.push({ end: (end[1] ?? end[2] ?? end[3])!, indented })
  }

  private newline(): void {
    this.endRun('')
    this.at++
    for (const { end, indented } of this.documents.splice(0)) {
      while (this.at < this.text.length) {
        const stop = this.lineEnd()
        const line = this.text.slice(this.at, stop)
        this.at = stop + 1
        if ((indented ? line.replace(/^\t+/, '') : line) === end) break
      }
    }
  }

  private lineEnd(): number {
    const end = this.text.indexOf('\n', this.at)
    return end < 0 ? this.text.length : end
  }

  private add(text: string, open = false): void {
    this.word ??= { text: '', open: false }
    this.word.text += text
    if (open) this.word.open = true
  }

  private endWord(): void {
    const { word } = this
    this.word = null
    if (word === null) return
    if (this.redirect !== null) this.run.redirects.push({ append: this.redirect.append, to: word })
    else this.run.words.push(word)
    this.redirect = null
  }

  private endRun(next: ShellRun['after']): void {
    this.endWord()
    this.redirect = null
    const { words, redirects } = this.run
    if (words.length > 0 || redirects.length > 0) {
      this.runs.push(this.run)
      this.run = { words: [], redirects: [], after: next }
    } else if (next !== '') this.run.after = next
  }
}
