import type { SessionRecord } from '../../contract/records/session.js'
import type { Store } from '../../store/store.js'
import type { SignalContext } from '../context.js'

/**
 * Bytes by which kept facts may lag behind the transcript. That many bytes are read in an instant.
 */
export const BYTES_BETWEEN_KEEPING = 256 * 1024

/** Schedules storing a session's facts after a turn that made the transcript long enough. */
export function scheduleKeepingFacts({ deps, record, enabled }: SignalContext): void {
  const offset = record.cursor?.offset ?? 0
  const kept = record.factsKeptAt ?? 0
  if (enabled && (offset < kept || offset - kept >= BYTES_BETWEEN_KEEPING))
    deps.store.afterCommit(() => deps.leaveWork())
}

/** Fewest steps of a session that is worth a brief. */
export const LEAST_STEPS = 5

/**
 * Requests a brief of a session that did real work and ended without a brief.
 * `gone`: the session's client died while the agent worked. Its last steps may have sent no
 * signal, so they are counted when the brief is written.
 */
export function requestLateBrief(
  { deps, record, enabled }: Pick<SignalContext, 'deps' | 'record' | 'enabled'>,
  why: WantedBrief,
): void {
  if (!enabled || record.jobId !== null || record.transcriptPath === null) return
  if (why === 'ended' && record.spend.answers < LEAST_STEPS) return
  record.briefWanted = why
  deps.store.afterCommit(() => deps.leaveWork())
}

/** Age of a session's last signal beyond which no brief is written for the session. */
const LOOK_BACK_MS = 7 * 24 * 3_600_000

/** Returns recent sessions for which Baton must still decide whether to write a brief. */
export function sessionsNeedingBrief(store: Store, now: Date): SessionRecord[] {
  return store.sessions({ seenSince: new Date(now.getTime() - LOOK_BACK_MS).toISOString(), wantsBrief: true })
}

type WantedBrief = NonNullable<SessionRecord['briefWanted']>
