import type { SessionRecord } from '../contract/record.js'
import type { Store } from '../store/store.js'
import type { Draft } from './draft.js'

/** What is kept need not be newer than this: so much more is read in an instant. */
export const KEEP_EVERY = 256 * 1024

/** Facts are kept up to date while nobody waits: after a turn that made the transcript so much longer. */
export function wantFacts({ parts, record, enabled }: Draft): void {
  const offset = record.cursor?.offset ?? 0
  const kept = record.factsKeptAt ?? 0
  if (enabled && (offset < kept || offset - kept >= KEEP_EVERY)) parts.store.afterCommit(() => parts.leaveWork())
}

/** Fewer steps than this are looked up faster than read about. */
const LEAST_STEPS = 5

/** A session is over. If nobody left a brief of real work, Baton writes one, later. `gone`: its client died while it worked. */
export function wantBrief({ parts, record, enabled }: Pick<Draft, 'parts' | 'record' | 'enabled'>, why: WantedBrief): void {
  if (!enabled || record.jobId !== null || record.spend.answers < LEAST_STEPS || record.transcriptPath === null) return
  record.briefWanted = why
  parts.store.afterCommit(() => parts.leaveWork())
}

/** What was not come to by then is over. */
const LOOK_BACK_MS = 7 * 24 * 3_600_000

/** Sessions a brief is still to be written of, whoever wanted it and died. */
export function wantedBriefs(store: Store, now: Date): SessionRecord[] {
  return store.sessions({ seenSince: new Date(now.getTime() - LOOK_BACK_MS).toISOString(), wantsBrief: true })
}

type WantedBrief = NonNullable<SessionRecord['briefWanted']>
