/** Quotes a text as one word for the shell. */
export function quoteForShell(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}

const OPERATOR = /^(?:\d?>>?&?\d?|<|\|\||&&|;|\||&|\n)/

/**
 * Splits a command into the words that a shell would see, including operators.
 * Expands `~` and plain variables.
 * Null when the command uses other features of the shell. Commands by Baton never do.
 */
export function shellWords(command: string, env: Record<string, string | undefined>): string[] | null {
  const words: string[] = []
  let word: string | null = null
  let rest = command
  const take = (n: number) => {
    rest = rest.slice(n)
  }
  const end = () => {
    if (word !== null) words.push(word)
    word = null
  }
  while (rest !== '') {
    const c = rest[0]!
    const operator: string | undefined = word === null || !/^\d/.test(rest) ? OPERATOR.exec(rest)?.[0] : undefined
    if (/^[ \t]/.test(rest)) {
      end()
      take(1)
    } else if (operator) {
      end()
      words.push(operator)
      take(operator.length)
    } else if (c === "'") {
      const close = rest.indexOf("'", 1)
      if (close < 0) return null
      word = (word ?? '') + rest.slice(1, close)
      take(close + 1)
    } else if (c === '"') {
      const found = /^"((?:[^"\\]|\\[\s\S])*)"/.exec(rest)
      if (!found) return null
      const inner = expand(found[1]!, env)
      if (inner === null) return null
      word = (word ?? '') + inner
      take(found[0].length)
    } else {
      const plain: string = /^(?:\\[\s\S]|[^\s'"\\;&|<>])+/.exec(rest)?.[0] ?? ''
      if (plain === '') return null
      const home: string = word === null && /^~(?=\/|$)/.test(plain) ? plain.replace('~', env.HOME ?? '~') : plain
      const text = expand(home, env)
      if (text === null) return null
      word = (word ?? '') + text
      take(plain.length)
    }
  }
  end()
  return words
}

function expand(text: string, env: Record<string, string | undefined>): string | null {
  let follow = true
  const done = text.replace(
    /\\([\s\S])|\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})|[$`]/g,
    (all, escaped, bare, braced) => {
      if (escaped !== undefined) return escaped
      const name = bare ?? braced
      if (name !== undefined) return env[name] ?? ''
      follow = false
      return all
    },
  )
  return follow ? done : null
}
