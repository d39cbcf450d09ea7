/** The lines of two texts, told as one list: what stayed, what went, what came. */
export interface DiffLine {
  kind: 'same' | 'gone' | 'new'
  text: string
  /** Numbers from 1; null where the line is not in that text. */
  before: number | null
  after: number | null
}

/** Beyond so many differing lines nobody reads a difference: the middle is then told as replaced whole. */
const MOST = 1_500

/** The fewest lines that go and come, after Myers (1986). */
export function lineDiff(before: string, after: string): DiffLine[] {
  const old = linesOf(before)
  const fresh = linesOf(after)
  let head = 0
  while (head < old.length && head < fresh.length && old[head] === fresh[head]) head++
  let tail = 0
  while (tail < old.length - head && tail < fresh.length - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail++
  const kept = pathThrough(old.slice(head, old.length - tail), fresh.slice(head, fresh.length - tail))
  return told(old, fresh, [
    ...range(head).map((at) => [at, at] as const),
    ...kept.map(([a, b]) => [a + head, b + head] as const),
    ...range(tail).map((at) => [old.length - tail + at, fresh.length - tail + at] as const),
  ])
}

const linesOf = (text: string): string[] => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))
const range = (length: number): number[] => Array.from({ length }, (_, at) => at)

/** `pairs`: places of lines that stay, rising in both. What lies between goes first, then comes. */
function told(old: readonly string[], fresh: readonly string[], pairs: readonly (readonly [number, number])[]): DiffLine[] {
  const lines: DiffLine[] = []
  let [a, b] = [0, 0]
  for (const [toA, toB] of [...pairs, [old.length, fresh.length] as const]) {
    while (a < toA) lines.push({ kind: 'gone', text: old[a]!, before: ++a, after: null })
    while (b < toB) lines.push({ kind: 'new', text: fresh[b]!, before: null, after: ++b })
    if (a < old.length && b < fresh.length) lines.push({ kind: 'same', text: old[a]!, before: ++a, after: ++b })
  }
  return lines
}

/** The pairs of equal lines on a shortest way from the beginning of both to the end of both. */
function pathThrough(old: readonly string[], fresh: readonly string[]): [number, number][] {
  const [n, m] = [old.length, fresh.length]
  if (n === 0 || m === 0) return []
  const most = Math.min(n + m, MOST)
  // The furthest place reached in `old` on each diagonal, after so many differences; kept for the way back.
  let furthest = new Int32Array([0])
  const trace: Int32Array[] = []
  const at = (row: Int32Array, differences: number, diagonal: number): number => row[(diagonal + differences) >> 1] ?? -1
  for (let d = 0; d <= most; d++) {
    const row = new Int32Array(d + 1)
    for (let k = -d; k <= d; k += 2) {
      const comes = d > 0 && (k === -d || (k !== d && at(furthest, d - 1, k - 1) < at(furthest, d - 1, k + 1)))
      let x = d === 0 ? 0 : comes ? at(furthest, d - 1, k + 1) : at(furthest, d - 1, k - 1) + 1
      while (x < n && x - k < m && old[x] === fresh[x - k]) x++
      row[(k + d) >> 1] = x
      if (x >= n && x - k >= m) return wayBack([...trace, row], n, m)
    }
    trace.push(row)
    furthest = row
  }
  return []
}

function wayBack(trace: readonly Int32Array[], n: number, m: number): [number, number][] {
  const pairs: [number, number][] = []
  let [x, y] = [n, m]
  for (let d = trace.length - 1; d >= 0; d--) {
    const k = x - y
    const row = d === 0 ? null : trace[d - 1]!
    const of = (diagonal: number): number => row?.[(diagonal + d - 1) >> 1] ?? -1
    const comes = d > 0 && (k === -d || (k !== d && of(k - 1) < of(k + 1)))
    const startX = d === 0 ? 0 : comes ? of(k + 1) : of(k - 1) + 1
    while (x > startX) pairs.push([--x, --y])
    if (d === 0) break
    if (comes) y--
    else x--
  }
  return pairs.reverse()
}

/** A stretch of a difference: shown, or a run of unchanged lines that is folded away. */
export type DiffPart = { folded: boolean; lines: DiffLine[] }

/** Unchanged lines stay only near what changed. */
export function folded(lines: readonly DiffLine[], around = 3): DiffPart[] {
  const near = new Uint8Array(lines.length)
  lines.forEach((line, at) => {
    if (line.kind !== 'same') near.fill(1, Math.max(0, at - around), at + around + 1)
  })
  const parts: DiffPart[] = []
  lines.forEach((line, at) => {
    const isFolded = near[at] === 0
    const last = parts.at(-1)
    if (last !== undefined && last.folded === isFolded) last.lines.push(line)
    else parts.push({ folded: isFolded, lines: [line] })
  })
  // A single line takes no more room than the words that it is hidden.
  return parts.map((part) => (part.folded && part.lines.length < 2 ? { ...part, folded: false } : part))
}
