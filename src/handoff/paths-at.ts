const BEFORE =
  /^\s*(?:[-*+•|]\s*|\d{1,3}[.)]\s+|\[[ xX]\]\s*|[MADRU?]{1,2}\s+(?=\S*[/.])|(?:modified|new file|deleted|changed|created|added|new|edited):?\s+)*/i

/** The files a line begins with; those named further on are about something else. */
export function pathsAt(line: string): string[] {
  return takePaths(line.replace(BEFORE, '')).named.map(({ path }) => path)
}

export interface NamedPath {
  path: string
  /** It stands in backquotes: meant as a name, not a word. */
  quoted: boolean
}

/** The files a text begins with, one after the other, and what follows them. */
export function takePaths(text: string): { named: NamedPath[]; rest: string } {
  const named: NamedPath[] = []
  let rest = text
  for (;;) {
    const token = /^(?:\*\*)?(?:`([^`\s]+)`|\[`?([^\]`\s]+)`?\]\([^)]*\)|([^\s`*|,;()]+))(?:\*\*)?/u.exec(rest)
    const path = token && cleaned(token[1] ?? token[2] ?? token[3]!)
    if (!token || path === null) return { named, rest }
    named.push({ path, quoted: token[3] === undefined })
    rest = rest.slice(token[0].length)
    const between = /^\s*(?:,|;|&|\+|→|->|and\b|und\b|y\b|et\b)\s*/u.exec(rest)
    if (!between) return { named, rest }
    rest = rest.slice(between[0].length)
  }
}

/** null: not a file. Folders, patterns, addresses and versions are none. */
function cleaned(token: string): string | null {
  const path = token.replace(/^(\.\/|@)/, '').replace(/(:\d[\d:,-]*|#L?\d[\w-]*)?[.:,;!?]*$/, '')
  if (/[*{}<>$"'=]|:\/\/|\.\.\./.test(path) || /^v?\d+(\.\d+)+$/.test(path)) return null
  return /^[^\s]*[^/\s.][^/\s]*\.[A-Za-z][A-Za-z0-9]{0,9}$|^\S*\/\.[\w.-]+$|^\.[a-z][\w.-]+$/u.test(path) ? path : null
}
