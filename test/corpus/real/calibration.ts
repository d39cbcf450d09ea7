import { checkBrief } from '../../../src/briefs/check-brief.js'
import type { RealSession } from './real-labels.js'
import { answers, scoreProbes } from './real-score.js'
import { factsUpTo, textsOf } from './real-texts.js'

/** A text of some quality, with its coverage and the share of probes that it answers. */
export interface RatedText {
  name: string
  coverage: number
  probes: number
}

const part = (text: string, share: number): string => text.slice(0, Math.floor(text.length * share))
const everySecond = (text: string, rest: number): string =>
  text
    .split('\n')
    .filter((line, at) => /^#|^$/.test(line) || at % 2 === rest)
    .join('\n')

/**
 * Rates texts of varying quality about one session: briefs, summaries, recoveries, parts of them,
 * lists of files, and notes such as an agent writes. Empty when the session has no probes.
 */
export function rateTexts({ file, labels, boundary, probes }: RealSession): RatedText[] {
  if (probes.length === 0 || boundary === null) return []
  const { briefAtBoundary, summary, recovery } = textsOf(file, boundary)
  const { facts } = factsUpTo(file, boundary)
  const known = [...labels.constraints, ...labels.decisions].filter(({ line }) => line < boundary)
  const notes = `# Notes\n\n${known.map(({ text }) => `- ${text.replace(/\s+/g, ' ')}`).join('\n')}\n`
  const changed = facts.filter(({ kind, state }) => kind === 'file' && state === 'changed')
  const files = `# Files\n\n${changed.map(({ text }) => `- ${text}`).join('\n')}\n`
  const answered = probes.filter((probe) => answers(notes, probe)).length
  const texts: [string, string | null][] = [
    ['brief', briefAtBoundary],
    ['brief, first half', part(briefAtBoundary!, 0.5)],
    ['brief, first quarter', part(briefAtBoundary!, 0.25)],
    ['brief, second half', briefAtBoundary!.slice(briefAtBoundary!.length / 2)],
    ['brief, odd lines', everySecond(briefAtBoundary!, 0)],
    ['brief, even lines', everySecond(briefAtBoundary!, 1)],
    ['list of files', files],
    [`notes of ${answered}`, notes],
    ['half of the notes', part(notes, 0.5)],
    ['summary', summary],
    ['summary, first half', summary === null ? null : part(summary, 0.5)],
    ['recovery', recovery],
    ['summary + recovery', summary === null ? null : `${summary}\n${recovery}`],
    ['one sentence', '# Handoff brief\n\nThe work goes on.\n'],
  ]
  return texts.flatMap(([name, text]) =>
    text === null
      ? []
      : [{ name, coverage: checkBrief(text, facts, []).score, probes: scoreProbes(text, probes).share! }],
  )
}

/** Returns Spearman's rank correlation of two figures. Null for fewer than three pairs. */
export function rankCorrelation(pairs: readonly (readonly [number, number])[]): number | null {
  if (pairs.length < 3) return null
  const a = ranks(pairs.map(([one]) => one))
  const b = ranks(pairs.map(([, other]) => other))
  const mean = (pairs.length + 1) / 2
  const product = (x: readonly number[], y: readonly number[]): number =>
    x.reduce((sum, value, at) => sum + (value - mean) * (y[at]! - mean), 0)
  const spread = Math.sqrt(product(a, a) * product(b, b))
  return spread === 0 ? null : product(a, b) / spread
}

/** Ranks from 1; equal values share the mean of their ranks. */
function ranks(values: readonly number[]): number[] {
  const order = values.map((value, at) => ({ value, at })).sort((a, b) => a.value - b.value)
  const found = new Array<number>(values.length)
  for (let from = 0; from < order.length; ) {
    let to = from
    while (to + 1 < order.length && order[to + 1]!.value === order[from]!.value) to++
    for (let i = from; i <= to; i++) found[order[i]!.at] = (from + to) / 2 + 1
    from = to + 1
  }
  return found
}
