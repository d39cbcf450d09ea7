import type { Limits } from '../contract/reading.js'
import type { SessionRecord } from '../contract/records/session.js'

const SMALL = 200_000
const LARGE = 1_000_000
/** How far before its window's end an agent compacts. */
export const COMPACTS_BEFORE = 33_000

/** What bears on window and compaction point of a session the library is told of. */
interface LimitSources {
  /** What the caller gave. */
  window: number | null
  compaction: number | null
  record: SessionRecord | null
  /** The model as told now; null: not told. */
  model: string | null
  /** The present figure. */
  used: number | null
  /** What model, settings and environment say, given the caller's window. */
  derive(): Limits
}

/**
 * The caller's own word first. Then what the session's client told: this process may have another environment than the
 * client, and derived limits that differ would move the levels back and forth. Then what the model's name says. A session
 * of which nothing is known is taken for one with a 200k window: a warning that comes too early does less harm than none.
 */
export function chooseLimits(known: LimitSources): Limits {
  const kept = known.record?.track.limits ?? null
  const firm = kept !== null && kept.point !== null && kept.reason !== ASSUMED ? kept : null
  if (known.compaction !== null)
    return toldLimits(known.compaction, known.window ?? firm?.window ?? known.derive().window)
  if (known.window !== null) return known.derive()
  const sameModel = known.model === null || known.model === known.record?.model
  if (firm !== null && sameModel && (firm.exact || firm.reason === TOLD || isClients(known.record!))) return firm
  const derived = known.derive()
  if (derived.window !== null) return derived
  return firm ?? assumedLimits(kept?.window ?? SMALL, known.used)
}

/** The client itself was seen: its hooks, its process, its transcript. */
export function isClients(record: SessionRecord): boolean {
  return record.transcriptPath !== null || record.process !== null
}

const TOLD = 'told by the caller'
const ASSUMED = 'assumed, because neither model nor window is known'

function toldLimits(point: number, window: number | null): Limits {
  return {
    window: window !== null && window < point ? null : window,
    point,
    mode: 'proactive',
    exact: false,
    reason: TOLD,
  }
}

/** An answer that was given more than fits proves the larger window. */
function assumedLimits(least: number, used: number | null): Limits {
  const window = used !== null && used > least ? LARGE : least
  return { window, point: window - COMPACTS_BEFORE, mode: 'proactive', exact: false, reason: ASSUMED }
}
