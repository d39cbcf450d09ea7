import type { FactKind } from '../contract/fact.js'
import { formatCount } from '../lib/format-count.js'
import { ARM_NAMES, type ArmName, type Share } from './arms.js'
import { CALLS_AFTER } from './calls-after.js'
import { bootstrap, type Interval, REPLICATES, SEED } from './intervals.js'
import type { ReplayedCompaction } from './replay-transcript.js'

export interface ArmReport {
  name: ArmName
  /** Mean length of the text. Null when no compaction was replayed. */
  characters: number | null
  needed: Share
  /** Facts that the text contains, by Baton's own extractor. */
  facts: Partial<Record<FactKind, Share>>
  /** Files read and commands run again. Null for an arm that never happened. */
  rereads: number | null
  reruns: number | null
  /**
   * Rereads and reruns that the text would have answered. Null for an arm that always happened.
   */
  avoidable: number | null
}

export interface ReplayReport {
  compactions: number
  calls_after: number
  arms: ArmReport[]
  intervals: {
    method: 'bootstrap over compactions'
    level: 0.95
    seed: number
    replicates: number
    /** Interval of the share of needed tokens, by arm. */
    needed: Record<ArmName, Interval>
    /** Interval of that share minus the share of the client's summary alone. */
    against_summary: Record<ArmName, Interval>
  }
  verdict: string
}

/** Sums the figures of all compactions and says in words what they show. */
export function reportReplay(compactions: readonly ReplayedCompaction[]): ReplayReport {
  const arms = ARM_NAMES.map((name) => armReport(name, compactions))
  const needed = byArm((name) => bootstrap(compactions, (sample) => shareKept(sample, name)))
  const against = byArm((name) =>
    name === 'summary'
      ? null
      : bootstrap(compactions, (sample) => difference(shareKept(sample, name), shareKept(sample, 'summary'))),
  )
  return {
    compactions: compactions.length,
    calls_after: CALLS_AFTER,
    arms,
    intervals: {
      method: 'bootstrap over compactions',
      level: 0.95,
      seed: SEED,
      replicates: REPLICATES,
      needed,
      against_summary: against,
    },
    verdict: verdictOf(compactions.length, arms, against),
  }
}

function armReport(name: ArmName, compactions: readonly ReplayedCompaction[]): ArmReport {
  const happened = compactions.filter((one) => one.happened === name)
  const others = compactions.filter((one) => one.happened !== name)
  const all = compactions.map(({ arms }) => arms[name])
  return {
    name,
    characters: all.length === 0 ? null : Math.round(sum(all.map(({ characters }) => characters)) / all.length),
    needed: { kept: sum(all.map(({ kept }) => kept)), of: sum(compactions.map((one) => one.needed)) },
    facts: sumFacts(all.map(({ facts }) => facts)),
    rereads: happened.length === 0 ? null : sum(happened.map(({ rereads }) => rereads)),
    reruns: happened.length === 0 ? null : sum(happened.map(({ reruns }) => reruns)),
    avoidable: others.length === 0 ? null : sum(others.map(({ arms }) => arms[name].avoidable)),
  }
}

const sum = (numbers: readonly number[]): number => numbers.reduce((all, one) => all + one, 0)

function byArm<T>(value: (name: ArmName) => T): Record<ArmName, T> {
  return Object.fromEntries(ARM_NAMES.map((name) => [name, value(name)])) as Record<ArmName, T>
}

function sumFacts(all: readonly Partial<Record<FactKind, Share>>[]): Partial<Record<FactKind, Share>> {
  const sums: Partial<Record<FactKind, Share>> = {}
  for (const facts of all)
    for (const [kind, { kept, of }] of Object.entries(facts) as [FactKind, Share][]) {
      const before = sums[kind] ?? { kept: 0, of: 0 }
      sums[kind] = { kept: before.kept + kept, of: before.of + of }
    }
  return sums
}

function shareKept(sample: readonly ReplayedCompaction[], name: ArmName): number | null {
  const of = sum(sample.map(({ needed }) => needed))
  return of === 0 ? null : sum(sample.map(({ arms }) => arms[name].kept)) / of
}

const difference = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? null : one - other

/** Fewest compactions from which an interval says something about others. */
const FEW = 10

function verdictOf(count: number, arms: readonly ArmReport[], against: Record<ArmName, Interval>): string {
  if (count === 0) return 'No compaction was replayed, so nothing is shown.'
  const { of } = arms[0]!.needed
  if (of === 0)
    return (
      `In ${formatCount(count, 'compaction')} the agent used nothing specific that only the time before had ` +
      'introduced. By this measure plain compaction is as good.'
    )
  const [summary, recovery, brief, last] = ARM_NAMES.map((name) => arms.find((arm) => arm.name === name)!)
  return [
    `Of ${formatCount(of, 'needed token')} the client's summary keeps ${percent(summary!)}.`,
    `With Baton's recovery it is ${percent(recovery!)}: ${inWords(against['summary and recovery'])}.`,
    `Baton's brief keeps ${percent(brief!)} in ${ratio(brief!, summary!)} of the characters: ` +
      `${inWords(against.brief)}.`,
    `The last messages at the brief's size keep ${percent(last!)}: ${inWords(against['last messages'])}.`,
    count < FEW ? `With ${formatCount(count, 'compaction')} the intervals are wide; look at them first.` : '',
  ]
    .filter((sentence) => sentence !== '')
    .join(' ')
}

/** Says what the interval of a difference to the client's summary shows. */
function inWords(interval: Interval): string {
  if (interval === null) return 'nothing to compare'
  const [low, high] = interval
  if (low > 0) return 'more than plain compaction, beyond chance'
  if (high < 0) return 'less than plain compaction, beyond chance'
  return 'by this measure plain compaction is as good, because the difference may be chance'
}

export const percent = ({ needed: { kept, of } }: Pick<ArmReport, 'needed'>): string =>
  of === 0 ? '–' : `${Math.round((kept / of) * 100)}%`

function ratio(one: ArmReport, other: ArmReport): string {
  return other.characters ? `${Math.round((100 * (one.characters ?? 0)) / other.characters)}%` : 'an unknown share'
}
