import type { LossShown, SessionDetail, SessionRow } from '../contract/api/sessions.js'
import type { ResolvedLevel } from '../contract/level.js'
import type { CompactionRecord } from '../contract/loss.js'
import type { Policy } from '../contract/policy.js'
import type { SessionRecord } from '../contract/record.js'
import type { Session } from '../contract/session.js'
import { namedBy } from '../facts/key-of.js'
import { resolveLevels } from '../policy/levels.js'
import type { Store } from '../store/store.js'
import { viewBrief } from './view-brief.js'

const DAY = 24 * 3_600_000

/** A session by id or its unambiguous beginning, else the one that sits in a seat, by its id or name. null: none, or several begin so. */
export function findSession(store: Store, id: string): SessionRecord | null {
  const exact = store.session(id)
  if (exact) return exact
  const seat = store.seat(id) ?? store.seatNamed(id)
  if (seat) return sitsIn(store, seat.seatId)
  if (id.length < 4) return null
  const all = store.sessions()
  const sessions = all.filter((record) => record.sessionId.startsWith(id))
  if (sessions.length > 0) return sessions.length === 1 ? sessions[0]! : null
  const seats = new Set(all.filter((record) => record.seatId.startsWith(id)).map((record) => record.seatId))
  return seats.size === 1 ? sitsIn(store, [...seats][0]!) : null
}

/** The last one heard of, those that have ended last: an earlier session of the chain may have been resumed. */
function sitsIn(store: Store, seatId: string): SessionRecord | null {
  const place = ({ state, seenAt }: SessionRecord): string => `${state === 'ended' ? 0 : 1}${seenAt}`
  return store.chain(seatId).reduce<SessionRecord | null>((a, b) => (a !== null && place(a) > place(b) ? a : b), null)
}

const isLive = ({ state }: Pick<Session, 'state'>): boolean => state !== 'ended' && state !== 'unknown'

/** Nothing was heard of it since. */
const isForgotten = ({ forgottenAt, seenAt }: SessionRecord): boolean => forgottenAt !== undefined && seenAt <= forgottenAt

/** Whether a list of sessions has it where not all are wanted: it is live, or of the last 24 hours, and not forgotten. */
export function isListed(record: SessionRecord, session: Pick<Session, 'state'>, now: Date): boolean {
  return !isForgotten(record) && (isLive(session) || record.seenAt >= dayBefore(now))
}

const dayBefore = (now: Date): string => new Date(now.getTime() - DAY).toISOString()

/** `view`: what it takes to know whether it is live; far less than a row. */
export interface Showing {
  view(record: SessionRecord): Pick<Session, 'state'>
  row(record: SessionRecord): SessionRow
}

/** Live ones and those of the last 24 hours, ended included, newest first. */
export function recentSessions(
  store: Store,
  { view, row }: Showing,
  { all, live, now }: { all?: boolean; live?: boolean; now: Date },
): SessionRow[] {
  if (all && !live) return store.sessions().map(row)
  const some = store.sessions(live ? { goingOn: 'only' } : { seenSince: dayBefore(now), goingOn: 'too' })
  // Of those that say they go on, many may be left by a client that died long ago.
  const isShown = (record: SessionRecord): boolean => {
    const session = view(record)
    return isListed(record, session, now) && (!live || isLive(session))
  }
  return some.filter(isShown).map(row)
}

export interface LevelView {
  name: string
  at_tokens: number | null
  crossed_at: string | null
  reachable: boolean
}

export function levelViews(record: SessionRecord, policy: Policy): LevelView[] {
  const crossed = new Map(record.track.latched.map((latch) => [latch.name, latch.crossedAt]))
  return resolveLevels(policy.levels, record.track.limits).map((level: ResolvedLevel) => ({
    name: level.name,
    at_tokens: level.atTokens,
    crossed_at: crossed.get(level.name) ?? null,
    reachable: level.reachable,
  }))
}

/** What `show` says: the session, its climb, its seat's chain and briefs. */
export function detailOf(store: Store, record: SessionRecord, row: SessionRow): Omit<SessionDetail, 'archives'> {
  return {
    ...row,
    cycle_started_at: record.track.cycleStartedAt,
    cycle_reason: record.track.cycleReason,
    limits_reason: record.track.limits.reason,
    plan_limits: record.planLimits,
    config_trouble: record.configTrouble,
    chain: store.chain(record.seatId).map((one) => ({
      session_id: one.sessionId,
      started_at: one.startedAt,
      ended_at: one.endedAt,
      compactions: one.compactions,
      handoffs: one.handoffs,
      used_tokens: one.track.used,
    })),
    briefs: store.briefs({ seatId: record.seatId }).map(viewBrief),
    losses: store.compactions(record.sessionId).flatMap(lossView),
  }
}

function lossView({ loss, startedAt, archiveId, trigger, first, second }: CompactionRecord): LossShown[] {
  if (loss === null) return []
  const back = namedBy([...(first?.keys ?? []), ...(second?.keys ?? [])])
  return [
    {
      compaction_started_at: startedAt,
      trigger,
      archive_id: archiveId,
      facts: loss.total,
      facts_kept: loss.kept,
      by_kind: loss.byKind,
      lost: loss.lost.map(({ kind, text, state, line }) => ({ kind, text, state, line })),
      put_back: loss.lost.filter(back).length,
    },
  ]
}
