import type { Usage } from '../contract/reading.js'
import type { SessionRecord } from '../contract/record.js'
import type { Store } from '../store/store.js'

type Spent = Usage & { answers: number }

/** Books what a session has spent since it was last known: nothing, for most signals. */
export function bookSpend(store: Store, known: SessionRecord | null, now: SessionRecord, at: string): void {
  const costUsd = moreOf(known?.costUsd ?? null, now.costUsd)
  const more = (key: keyof Spent): number => Math.max(0, now.spend[key] - (known?.spend[key] ?? 0))
  const steps = more('answers')
  const spent = {
    input: more('input'),
    output: more('output'),
    cacheCreation: more('cacheCreation'),
    cacheRead: more('cacheRead'),
  }
  if (steps === 0 && !costUsd && !Object.values(spent).some((tokens) => tokens > 0)) return
  store.addSpend({ sessionId: now.sessionId, at, model: now.model, steps, ...spent, costUsd })
}

/** What a subagent has spent; the client's figure for the session holds what it cost. */
export function bookSubagent(
  store: Store,
  sessionId: string,
  model: string | null,
  { answers, ...spent }: Spent,
  at: string,
): void {
  if (answers === 0 && spent.output === 0) return
  store.addSpend({ sessionId, at, model, steps: 0, ...spent, costUsd: null })
}

/**
 * A client's running total. One that falls by more than half began anew, as it does in a new process; one that falls by less is an old
 * figure that came late. null: it tells none.
 */
function moreOf(known: number | null, now: number | null): number | null {
  if (now === null) return null
  if (known === null || now < known / 2) return now
  return Math.max(0, now - known)
}
