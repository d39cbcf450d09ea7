/** What a launcher was told when it was written. */
export interface LauncherParts {
  bash: string
  home: string
  node: string
  engine: string
  /** All the rest: equal for launchers of the same version. */
  program: string
}

const QUOTED = "('(?:[^']|'\\\\'')*')"
const HEAD = new RegExp(
  `^#!(.*?)(?: -p)?\\n([^\\n]*\\n)home=${QUOTED} config=${QUOTED} log=${QUOTED} node=${QUOTED} engine=${QUOTED} (?=agent=)`,
)

/** null: not a launcher as any version of ours has written it. */
export function launcherParts(text: string): LauncherParts | null {
  const found = HEAD.exec(text)
  if (!found) return null
  const [head, bash = '', comment = '', home = '', , , node = '', engine = ''] = found
  return {
    bash,
    home: unquote(home),
    node: unquote(node),
    engine: unquote(engine),
    program: comment + text.slice(head.length),
  }
}

function unquote(word: string): string {
  return word.slice(1, -1).replaceAll(`'\\''`, "'")
}
