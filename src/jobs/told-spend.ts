import type { Usage } from '../contract/reading.js'
import type { AttemptRecord } from '../contract/records/job.js'
import type { SpendSoFar } from '../contract/runtime.js'

type Spent = Pick<AttemptRecord, 'spend' | 'costUsd'>

/**
 * What a session has spent, by the totals its clients tell at the end of a turn: they hold subagents and helper models, of which no answer is
 * told. A client goes on with the total of the one before it, unless that was killed: then it begins lower. What is known never falls.
 */
export class ToldSpend {
  private before: Spent
  /** What this client does not know of; null: it has told nothing yet. */
  private unknown: { spend: Usage; costUsd: number } | null = null

  constructor(known: Spent) {
    this.before = known
  }

  /** Another client of the session begins. */
  begins(known: Spent): void {
    this.before = known
    this.unknown = null
  }

  /** `known`: with the answers that were told since. */
  ends(known: Spent, { usage, costUsd }: SpendSoFar): Spent {
    this.unknown ??= {
      // How much of it this client carries nobody knows: of its first turn the answers alone are counted then.
      spend: tokensOf(usage) < tokensOf(this.before.spend) ? minus(known.spend, usage) : NOTHING,
      // Money is told by nobody else. Rather too much than more than the budget.
      costUsd: costUsd !== null && costUsd < (this.before.costUsd ?? 0) ? this.before.costUsd! : 0,
    }
    const total = plus(this.unknown.spend, usage)
    return {
      spend: tokensOf(total) > tokensOf(known.spend) ? total : known.spend,
      costUsd: costUsd === null ? known.costUsd : Math.max(known.costUsd ?? 0, this.unknown.costUsd + costUsd),
    }
  }
}

/**
 * The part of a client's total that belongs to this job. A client that resumes a session goes on with
 * the session's total; one whose total is below what the session had spent counts from zero.
 */
export function ownSpend({ usage, costUsd }: SpendSoFar, carried: AttemptRecord['carried']): SpendSoFar {
  if (!carried) return { usage, costUsd }
  const before = carried.costUsd ?? 0
  return {
    usage: tokensOf(usage) < tokensOf(carried.spend) ? usage : atLeastZero(minus(usage, carried.spend)),
    costUsd: costUsd === null || costUsd < before ? costUsd : costUsd - before,
  }
}

function atLeastZero(usage: Usage): Usage {
  return each((name) => Math.max(0, usage[name]))
}

const NOTHING: Usage = { input: 0, output: 0, cacheCreation: 0, cacheRead: 0 }

export function tokensOf({ input, output, cacheCreation, cacheRead }: Usage): number {
  return input + output + cacheCreation + cacheRead
}

export function plus(one: Usage, other: Usage): Usage {
  return each((name) => one[name] + other[name])
}

function minus(one: Usage, other: Usage): Usage {
  return each((name) => one[name] - other[name])
}

function each(of: (name: keyof Usage) => number): Usage {
  return { input: of('input'), output: of('output'), cacheCreation: of('cacheCreation'), cacheRead: of('cacheRead') }
}
