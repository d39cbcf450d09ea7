import type { Coverage } from '../contract/brief.js'
import type { Fact } from '../contract/fact.js'
import { makeCarrying } from './carried.js'
import { claimedFiles, unsupportedFiles } from './claimed-files.js'
import { neededFacts } from './needed-facts.js'
import { type TokenReading, unsupportedFigures } from './token-figures.js'

/** What else vouches for a file or a figure that a brief names. */
export interface Vouching {
  /** The brief this session itself began with. */
  earlier?: string | null
  /** Files that git calls changed. */
  dirty?: readonly string[]
}

/** Of a longer brief the rest is not looked at; nobody could read it either. */
const LONGEST = 400_000
const MOST_SAID = 200_000
const MOST_UNSUPPORTED = 50

/** Compares a brief with what happened. What a brief says more than once, or elsewhere than asked, counts as said. */
export function checkBrief(
  body: string,
  facts: readonly Fact[],
  readings: readonly TokenReading[],
  vouching: Vouching = {},
): Coverage {
  const text = body.slice(0, LONGEST)
  const needed = neededFacts(facts)
  const carries = makeCarrying(text, facts)
  const coverage: Coverage = { score: 1, missing: [], unsupported: [], byKind: {} }
  let [all, kept] = [0, 0]
  for (const { fact, weight } of needed) {
    const kind = coverage.byKind[fact.kind] ?? { total: 0, kept: 0 }
    coverage.byKind[fact.kind] = kind
    kind.total++
    all += weight
    if (carries(fact)) {
      kind.kept++
      kept += weight
    } else coverage.missing.push({ kind: fact.kind, text: toldAs(fact) })
  }
  if (all > 0) coverage.score = kept / all
  const earlier = vouching.earlier ?? ''
  const files = unsupportedFiles(claimedFiles(text), facts, `${earlier}\n${(vouching.dirty ?? []).join('\n')}`)
  coverage.unsupported = [
    ...unsupportedFigures(text, readings, `${saidIn(facts)}\n${earlier}`),
    ...files.map((path) => `file: ${path}`),
  ].slice(0, MOST_UNSUPPORTED)
  return coverage
}

/** With what only the fact knows and whoever reads of it needs. */
export function toldAs({ kind, text, state, detail }: Fact): string {
  if (kind === 'commit' && typeof detail.id === 'string') return `${text} (${detail.id.slice(0, 9)})`
  return kind === 'command' ? `${text} (${state === 'failed' ? 'fails' : 'passes'})` : text
}

/** Figures the user or the work itself named are no claims about the context. */
function saidIn(facts: readonly Fact[]): string {
  let said = ''
  for (const { kind, text } of facts) {
    if (kind === 'file' || kind === 'branch' || !/tok|%/i.test(text)) continue
    if (said.length > MOST_SAID) break
    said += `${text.slice(0, MOST_SAID / 10)}\n`
  }
  return said
}
