import type { Limits } from '../contract/reading.js'
import type { SessionRecord } from '../contract/records/session.js'

const SMALL_WINDOW = 200_000
const LARGE_WINDOW = 1_000_000
/** Tokens between the compaction point of an agent and the end of its window. */
export const TOKENS_LEFT_AT_COMPACTION = 33_000

/** Inputs that decide a session's context window and compaction point. */
interface LimitSources {
  /** Context window given by the caller. Null when the caller gave none. */
  window: number | null
  compaction: number | null
  record: SessionRecord | null
  /** Model that the caller named now. Null when the caller named none. */
  model: string | null
  /** Tokens used now. Null when unknown. */
  used: number | null
  /** Derives limits from model, settings and environment, with the caller's window. */
  derive(): Limits
}

/**
 * Chooses the limits of a session: the caller's first, then those that its client reported.
 * Limits derived from the model come last.
 * This process may have another environment than the client.
 * Derived limits that differ from the client's would move the levels back and forth.
 * An unknown session gets a 200k window: a warning too early does less harm than none.
 */
export function chooseLimits(sources: LimitSources): Limits {
  const stored = sources.record?.track.limits ?? null
  const reliable = stored !== null && stored.point !== null && stored.reason !== ASSUMED ? stored : null
  if (sources.compaction !== null)
    return limitsFromCaller(sources.compaction, sources.window ?? reliable?.window ?? sources.derive().window)
  if (sources.window !== null) return sources.derive()
  const sameModel = sources.model === null || sources.model === sources.record?.model
  if (reliable !== null && sameModel && (reliable.exact || reliable.reason === TOLD || hasClient(sources.record!)))
    return reliable
  const derived = sources.derive()
  if (derived.window !== null) return derived
  return reliable ?? assumedLimits(stored?.window ?? SMALL_WINDOW, sources.used)
}

/** True when the client itself reported to Baton, so that its transcript or process is known. */
export function hasClient(record: SessionRecord): boolean {
  return record.transcriptPath !== null || record.process !== null
}

const TOLD = 'given by the caller'
const ASSUMED = 'assumed, because neither model nor window is known'

function limitsFromCaller(point: number, window: number | null): Limits {
  return {
    window: window !== null && window < point ? null : window,
    point,
    mode: 'proactive',
    exact: false,
    reason: TOLD,
  }
}

/** Assumes the smallest window, or the large one if an answer had more input than fits into it. */
function assumedLimits(least: number, used: number | null): Limits {
  const window = used !== null && used > least ? LARGE_WINDOW : least
  return { window, point: window - TOKENS_LEFT_AT_COMPACTION, mode: 'proactive', exact: false, reason: ASSUMED }
}
