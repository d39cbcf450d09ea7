/**
 * Returns the known name that the user most likely meant. Null when none is near enough.
 * Case, `-`, `_` and spaces are ignored.
 */
export function nearestName(written: string, known: readonly string[]): string | null {
  const from = plain(written)
  let best: string | null = null
  let least = Number.POSITIVE_INFINITY
  for (const name of known) {
    const to = plain(name)
    const most = Math.max(1, Math.floor(Math.max(from.length, to.length) / 3))
    // A difference in length costs one edit per character, so such names cannot be near.
    if (Math.abs(from.length - to.length) > most) continue
    const steps = distance(from, to)
    if (steps < least && steps <= most) {
      best = name
      least = steps
    }
  }
  return best
}

function plain(name: string): string {
  return name
    .toLowerCase()
    .replace(/[-_\s]/g, '')
    .slice(0, 64)
}

/**
 * Edit distance in which swapped neighbours cost one step, because that is the most common typo.
 */
function distance(a: string, b: string): number {
  let before: number[] = []
  let last = Array.from({ length: b.length + 1 }, (_, column) => column)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let steps = Math.min(last[j]! + 1, row[j - 1]! + 1, last[j - 1]! + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) steps = Math.min(steps, before[j - 2]! + 1)
      row.push(steps)
    }
    before = last
    last = row
  }
  return last[b.length]!
}
