const FENCE = /^[ \t]*(`{3,}|~{3,})[^`~]*$/
/** `<tag>` alone on a line. */
const OPENING = /^[ \t]*<([a-zA-Z][\w-]*)(?:\s[^>]*)?>[ \t]*$/
const CLOSING = /^[ \t]*<\/([a-zA-Z][\w-]*)>[ \t]*$/
const RULED = /^-{3,}\s*(?:BEGIN|START|8<|cut here)/i
const RULED_END = /^-{3,}\s*(?:END|STOP|8<|cut here)/i
const TRIPLE = /^[ \t]*("""|''')[\s\S]*?\1/gm

/**
 * A text without its fenced code, its documents in tags around lines of their own, and its ruled and triple quotes. Read line by line,
 * so that whatever stands there takes a time that grows with its length and no faster.
 */
export function withoutBlocks(text: string): string {
  const triple = text.includes('"""') || text.includes("'''")
  if (!triple && !['```', '~~~', '</', '---'].some((sign) => text.includes(sign))) return text
  const lines = text.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
  const ends = closingLines(lines)
  const kept: string[] = []
  for (let i = 0; i < lines.length; i++) {
    const stop = blockEnd(lines, i, ends)
    if (stop === null) kept.push(lines[i]!)
    else {
      kept.push('', '')
      i = stop
    }
  }
  const prose = kept.join('\n')
  return triple ? prose.replace(TRIPLE, '\n\n') : prose
}

/** The last line of the block that begins at line `i`; null: none begins there, or it never ends. */
function blockEnd(lines: readonly string[], i: number, ends: Ends): number | null {
  const line = lines[i]!
  const fence = line.includes('```') || line.includes('~~~') ? FENCE.exec(line)?.[1] : undefined
  if (fence !== undefined) {
    for (let at = i + 1; at < lines.length; at++) if (lines[at]!.trim() === fence) return at
    return lines.length
  }
  const tag = line.includes('<') ? OPENING.exec(line)?.[1] : undefined
  if (tag !== undefined) return ends.tag(tag, i)
  return line.startsWith('---') && RULED.test(line) ? ends.ruled(i) : null
}

interface Ends {
  tag(name: string, after: number): number | null
  ruled(after: number): number | null
}

function closingLines(lines: readonly string[]): Ends {
  const tags = new Map<string, number[]>()
  const ruled: number[] = []
  for (const [i, line] of lines.entries()) {
    const tag = line.includes('</') ? CLOSING.exec(line)?.[1] : undefined
    if (tag !== undefined) {
      const known = tags.get(tag)
      if (known) known.push(i)
      else tags.set(tag, [i])
    }
    if (line.startsWith('---') && RULED_END.test(line)) ruled.push(i)
  }
  return { tag: (name, after) => nextOf(tags.get(name), after), ruled: (after) => nextOf(ruled, after) }
}

function nextOf(places: readonly number[] = [], after: number): number | null {
  let low = 0
  let high = places.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (places[middle]! > after) high = middle
    else low = middle + 1
  }
  return places[low] ?? null
}
