import type { Usage } from '../contract/reading.js'
import type { AttemptRecord } from '../contract/records/job.js'
import type { SpendSoFar } from '../contract/runtime.js'

type Spent = Pick<AttemptRecord, 'spend' | 'costUsd'>

/**
 * Computes a session's spend from the totals that clients report at the end of a turn.
 * Totals include subagents and helper models, whose answers are not reported.
 * A resumed client continues the previous client's total, or starts lower if that was killed.
 * The known spend never falls.
 */
export class SpendTracker {
  private before: Spent
  /** Spend that this client's totals do not include. Null before the client's first report. */
  private unknown: { spend: Usage; costUsd: number } | null = null

  constructor(known: Spent) {
    this.before = known
  }

  /** Starts counting for another client of the session. */
  startClient(known: Spent): void {
    this.before = known
    this.unknown = null
  }

  /** Returns the spend at the end of a turn. `known` includes the answers reported since. */
  endTurn(known: Spent, { usage, costUsd }: SpendSoFar): Spent {
    this.unknown ??= {
      // Which part of the spend this client's total includes is unknown.
      // Therefore only the answers of its first turn are counted.
      spend: totalTokensOf(usage) < totalTokensOf(this.before.spend) ? subtractUsage(known.spend, usage) : NO_USAGE,
      // Only the client reports cost.
      // Counting too much cost is better than exceeding the budget.
      costUsd: costUsd !== null && costUsd < (this.before.costUsd ?? 0) ? this.before.costUsd! : 0,
    }
    const total = addUsage(this.unknown.spend, usage)
    return {
      spend: totalTokensOf(total) > totalTokensOf(known.spend) ? total : known.spend,
      costUsd: costUsd === null ? known.costUsd : Math.max(known.costUsd ?? 0, this.unknown.costUsd + costUsd),
    }
  }
}

/**
 * Returns the part of a client's total that belongs to this job.
 * A client that resumes a session continues the session's total.
 * If the total is below the session's earlier spend, the client counts from zero.
 */
export function ownSpend({ usage, costUsd }: SpendSoFar, carried: AttemptRecord['carried']): SpendSoFar {
  if (!carried) return { usage, costUsd }
  const before = carried.costUsd ?? 0
  return {
    usage:
      totalTokensOf(usage) < totalTokensOf(carried.spend) ? usage : atLeastZero(subtractUsage(usage, carried.spend)),
    costUsd: costUsd === null || costUsd < before ? costUsd : costUsd - before,
  }
}

function atLeastZero(usage: Usage): Usage {
  return each((name) => Math.max(0, usage[name]))
}

const NO_USAGE: Usage = { input: 0, output: 0, cacheCreation: 0, cacheRead: 0 }

export function totalTokensOf({ input, output, cacheCreation, cacheRead }: Usage): number {
  return input + output + cacheCreation + cacheRead
}

export function addUsage(one: Usage, other: Usage): Usage {
  return each((name) => one[name] + other[name])
}

function subtractUsage(one: Usage, other: Usage): Usage {
  return each((name) => one[name] - other[name])
}

function each(of: (name: keyof Usage) => number): Usage {
  return { input: of('input'), output: of('output'), cacheCreation: of('cacheCreation'), cacheRead: of('cacheRead') }
}
