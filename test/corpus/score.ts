import path from 'node:path'
import type { Fact, FactKind } from '../../src/contract/fact.js'
import type { Label, Labels } from './build/label.js'

/** Scored kinds of facts. `file` is split into changed files and files that were only read. */
export type Judged = Exclude<FactKind, 'file'> | 'file-changed' | 'file-read'

export interface Score {
  kind: Judged
  labels: number
  reports: number
  found: number
  right: number
  /** Found labels divided by all labels. Null when there is nothing to find. */
  recall: number | null
  /**
   * Correct reports divided by all reports. Null when nothing is reported or the kind has no
   * precision.
   */
  precision: number | null
  misses: Label[]
  wrong: Wrong[]
}

export interface Wrong {
  text: string
  state: string | null
  line: number
  /**
   * `state`: only the state is wrong. `decoy`: a prepared false fact. `unknown`: matches no label.
   */
  why: 'state' | 'decoy' | 'unknown'
}

export type StatedFact = Pick<Fact, 'kind' | 'text' | 'state' | 'line'> & { detail?: Fact['detail'] }

/** Kinds of facts whose state must match. For other kinds the state is optional detail. */
const STATED: readonly Judged[] = ['command', 'test', 'todo', 'question']
/** Kinds scored by recall alone: which further errors are worth a report is a matter of taste. */
const UNJUDGED: readonly Judged[] = ['error']

export function score(labels: Labels, facts: readonly StatedFact[]): Score[] {
  const kinds = new Set<Judged>([...labels.facts, ...facts].map(judged))
  return [...kinds].sort().map((kind) => scoreKind(kind, labels, facts))
}

/** Sums the scores of many transcripts into one table. */
export function total(scores: readonly Score[]): Score[] {
  const kinds = [...new Set(scores.map(({ kind }) => kind))].sort()
  return kinds.map((kind) => {
    const own = scores.filter((one) => one.kind === kind)
    const sum = (key: 'labels' | 'reports' | 'found' | 'right'): number => own.reduce((all, one) => all + one[key], 0)
    return figures(kind, sum('labels'), sum('reports'), sum('found'), sum('right'), {
      misses: own.flatMap((one) => one.misses),
      wrong: own.flatMap((one) => one.wrong),
    })
  })
}

function scoreKind(kind: Judged, labels: Labels, facts: readonly StatedFact[]): Score {
  const known = labels.facts.filter((label) => judged(label) === kind)
  const told = facts.filter((fact) => judged(fact) === kind)
  const seen = new Set<Label>()
  const wrong: Wrong[] = []
  for (const fact of told) {
    const fitting = known.filter((label) => fits(kind, label, fact, labels.cwd))
    const right = fitting.filter((label) => !STATED.includes(kind) || label.state === fact.state)
    for (const label of right) seen.add(label)
    if (right.length > 0 || wasReadFirst(kind, fact, labels)) continue
    wrong.push({
      text: fact.text,
      state: fact.state,
      line: fact.line,
      why: fitting.length > 0 ? 'state' : whyWrong(fact, labels),
    })
  }
  const required = known.filter((label) => !label.optional)
  const misses = required.filter((label) => !seen.has(label))
  return figures(kind, required.length, told.length, required.length - misses.length, told.length - wrong.length, {
    misses,
    wrong,
  })
}

function figures(
  kind: Judged,
  labels: number,
  reports: number,
  found: number,
  right: number,
  lists: Pick<Score, 'misses' | 'wrong'>,
): Score {
  const unjudged = UNJUDGED.includes(kind)
  return {
    kind,
    labels,
    reports,
    found,
    right,
    recall: labels === 0 ? null : found / labels,
    precision: reports === 0 || unjudged ? null : right / reports,
    misses: lists.misses,
    wrong: unjudged ? [] : lists.wrong,
  }
}

function judged({ kind, state }: Pick<Fact, 'kind' | 'state'>): Judged {
  if (kind !== 'file') return kind
  return state === 'changed' ? 'file-changed' : 'file-read'
}

function fits(kind: Judged, label: Label, fact: StatedFact, cwd: string): boolean {
  switch (kind) {
    case 'file-changed':
    case 'file-read':
      return path.resolve(cwd, label.text) === path.resolve(cwd, fact.text)
    case 'request':
    case 'command':
    case 'todo':
    case 'branch':
      return plain(label.text) === plain(fact.text)
    case 'commit':
      return sameCommit(label, fact)
    default:
      return oneHoldsTheOther(label.text, fact.text)
  }
}

function sameCommit(label: Label, fact: StatedFact): boolean {
  const ids = [fact.detail?.id, fact.detail?.sha, fact.detail?.commit].filter(
    (id) => typeof id === 'string' && id.length >= 7,
  )
  const sameId =
    label.id !== undefined && ids.some((id) => String(id).startsWith(label.id!) || label.id!.startsWith(String(id)))
  return sameId || plain(label.text) === plain(fact.text)
}

/** True if two texts are the same sentence with more or less context, but not a mere fragment. */
function oneHoldsTheOther(label: string, told: string): boolean {
  const [a, b] = [bare(label), bare(told)]
  if (a === '' || b === '') return false
  return b.includes(a) || (a.includes(b) && b.length * 2 >= a.length)
}

const plain = (text: string): string => text.replace(/\s+/g, ' ').trim()
const bare = (text: string): string =>
  plain(text)
    .toLowerCase()
    .replace(/[*_`"'“”‘’«»]/g, '')
    .replace(/^[\s\-•.,:;!?()]+|[\s.,:;!?()。！？、，]+$/g, '')

/** True for a changed file that is reported as read, because both are correct. */
function wasReadFirst(kind: Judged, fact: StatedFact, labels: Labels): boolean {
  if (kind !== 'file-read') return false
  return labels.facts.some((label) => judged(label) === 'file-changed' && fits('file-changed', label, fact, labels.cwd))
}

function whyWrong(fact: StatedFact, labels: Labels): Wrong['why'] {
  const decoy = labels.decoys.some(({ kind, text }) => kind === fact.kind && oneHoldsTheOther(text, fact.text))
  return decoy ? 'decoy' : 'unknown'
}
