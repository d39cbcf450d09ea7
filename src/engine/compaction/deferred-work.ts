import type { SessionRecord } from '../../contract/records/session.js'
import type { Store } from '../../store/store.js'
import type { SignalContext } from '../context.js'

/** What is kept need not be newer than this: so much more is read in an instant. */
export const KEEP_EVERY = 256 * 1024

/** Facts are kept up to date while nobody waits: after a turn that made the transcript so much longer. */
export function wantFacts({ deps, record, enabled }: SignalContext): void {
  const offset = record.cursor?.offset ?? 0
  const kept = record.factsKeptAt ?? 0
  if (enabled && (offset < kept || offset - kept >= KEEP_EVERY)) deps.store.afterCommit(() => deps.leaveWork())
}

/** Fewer steps than this are looked up faster than read about. */
const LEAST_STEPS = 5

/** A session is over. If nobody left a brief of real work, Baton writes one, later. `gone`: its client died while it worked. */
export function wantBrief(
  { deps, record, enabled }: Pick<SignalContext, 'deps' | 'record' | 'enabled'>,
  why: WantedBrief,
): void {
  if (!enabled || record.jobId !== null || record.spend.answers < LEAST_STEPS || record.transcriptPath === null) return
  record.briefWanted = why
  deps.store.afterCommit(() => deps.leaveWork())
}

/** What was not come to by then is over. */
const LOOK_BACK_MS = 7 * 24 * 3_600_000

/** Sessions a brief is still to be written of, whoever wanted it and died. */
export function wantedBriefs(store: Store, now: Date): SessionRecord[] {
  return store.sessions({ seenSince: new Date(now.getTime() - LOOK_BACK_MS).toISOString(), wantsBrief: true })
}

type WantedBrief = NonNullable<SessionRecord['briefWanted']>
