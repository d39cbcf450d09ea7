import type { Source } from '../contract/reading.js'

/** The sequence of figures all sources together have told in one cycle, and how far along it each source is. */
export interface Sequence {
  seen: number[]
  reached: Partial<Record<Source, number>>
}

export type Verdict = 'new' | 'same' | 'late'

const KEEP = 16

export const emptySequence = (): Sequence => ({ seen: [], reached: {} })

/**
 * Several sources report the same answers, each skipping some and each late in its own way, and none of their clocks can
 * be compared. Every source, though, tells its figures in the order they happened. So the figures already known form one
 * sequence, each source has a place in it, and a figure found ahead of the source's place is that same answer again:
 * at the end of the sequence it is the current one, before the end it is late. A figure not found there is new; but while
 * others are `ahead`, a lower one from a source that has not caught up with them is an answer they skipped.
 */
export function place(sequence: Sequence, source: Source, used: number, ahead = false): { verdict: Verdict; sequence: Sequence } {
  const at = sequence.reached[source] ?? -1
  const last = sequence.seen.length - 1
  if (at >= 0 && sequence.seen[at] === used) return { verdict: at === last ? 'same' : 'late', sequence }
  const found = sequence.seen.indexOf(used, at + 1)
  if (found >= 0) return { verdict: found === last ? 'same' : 'late', sequence: move(sequence, source, found) }
  if (ahead && at < last && used < sequence.seen[last]!)
    return { verdict: 'late', sequence: insert(sequence, source, used, at + 1) }
  return { verdict: 'new', sequence: insert(sequence, source, used, last + 1) }
}

/** Whether a source that has not yet reported in the present cycle may be telling the end of the cycle before. */
export function echoes(before: Sequence, source: Source, used: number): boolean {
  const from = Math.max(0, before.reached[source] ?? 0)
  return before.seen.indexOf(used, from) >= 0
}

function move(sequence: Sequence, source: Source, index: number): Sequence {
  return { seen: sequence.seen, reached: { ...sequence.reached, [source]: index } }
}

function insert(sequence: Sequence, source: Source, used: number, index: number): Sequence {
  const all = sequence.seen.toSpliced(index, 0, used)
  const cut = Math.max(0, all.length - KEEP)
  const reached: Partial<Record<Source, number>> = {}
  for (const [name, at] of Object.entries(sequence.reached)) {
    reached[name as Source] = Math.max(-1, (at >= index ? at + 1 : at) - cut)
  }
  reached[source] = Math.max(-1, index - cut)
  return { seen: all.slice(cut), reached }
}
