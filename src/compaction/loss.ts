import type { Fact, FactKind } from '../contract/fact.js'
import type { LossReport } from '../contract/loss.js'
import { makeCarrier } from '../facts/carries.js'

/** What stays bound to the work however long ago it was said; the rest counts only in the cycle it happened in. */
const LASTING = new Set<FactKind>(['request', 'constraint', 'todo', 'question', 'decision', 'branch'])
const MOST_NAMED = 200

export interface Remains {
  /** null: the client did not tell it. */
  summary: string | null
  /** What the agent went on seeing word for word. */
  kept: string
  /** Lines of the transcript it went on seeing. */
  keptLines: readonly number[]
  /** Last line of the transcript the compaction before this one replaced; 0: there was none. */
  sinceLine: number
}

/** `facts`: ranked, most needed first; the report keeps their order. */
export function reportLoss(facts: readonly Fact[], remains: Remains): LossReport {
  const carrier = makeCarrier(`${remains.summary ?? ''}\n${remains.kept}`, facts)
  const seen = new Set(remains.keptLines)
  const report: LossReport = { total: 0, kept: 0, byKind: {}, lost: [] }
  for (const fact of facts) {
    if (isPast(fact, remains.sinceLine)) continue
    const kind = report.byKind[fact.kind] ?? { total: 0, kept: 0 }
    report.byKind[fact.kind] = kind
    report.total++
    kind.total++
    if (seen.has(fact.line) || carrier.carries(fact)) {
      report.kept++
      kind.kept++
    } else if (report.lost.length < MOST_NAMED) report.lost.push(fact)
  }
  return report
}

/** Over, or of an earlier cycle whose compaction already told of it. */
function isPast(fact: Fact, sinceLine: number): boolean {
  if (fact.line > sinceLine) return false
  if (!LASTING.has(fact.kind)) return true
  return fact.state === 'done' || fact.state === 'dropped' || fact.state === 'answered'
}
