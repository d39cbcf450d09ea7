/** The candidate most like `word`, or null when none is close enough to be what was meant. */
export function nearest(word: string, candidates: readonly string[]): string | null {
  let best: string | null = null
  let least = Math.max(2, Math.floor(word.length / 2)) + 1
  for (const candidate of candidates) {
    const distance = edits(word.toLowerCase(), candidate.toLowerCase())
    if (distance < least) {
      least = distance
      best = candidate
    }
  }
  return best
}

function edits(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      next.push(Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)))
    }
    row = next
  }
  return row[b.length]!
}
