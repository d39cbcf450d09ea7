import type { Session } from '../../contract/api/session-view.js'
import type { LevelView, LossView, SessionDetail, SessionRow, SubagentView } from '../../contract/api/sessions.js'
import type { ResolvedLevel } from '../../contract/level.js'
import type { Policy } from '../../contract/policy.js'
import type { CompactionRecord } from '../../contract/records/compaction.js'
import type { SeatRecord, SessionRecord, SubagentRecord } from '../../contract/records/session.js'
import { putBackCheck } from '../../facts/fact-key.js'
import { resolveLevels } from '../../policy/levels.js'
import { percentOf } from '../../policy/percent.js'
import type { Store } from '../../store/store.js'
import { stepsToCompaction, tokensPerStep } from '../../tracker/forecast.js'
import type { HindranceSources } from '../handoff/missed-orders.js'
import { openHandoffView, viewBrief } from './brief-view.js'
import { viewSpend } from './session-view.js'

const DAY = 24 * 3_600_000

/**
 * Finds a session by its id, a unique beginning of the id, or the id or name of its seat.
 * Null when none or several match.
 */
export function findSession(store: Store, id: string): SessionRecord | null {
  const exact = store.session(id)
  if (exact) return exact
  const seat = findSeat(store, id)
  if (seat) return latestInSeat(store, seat.seatId)
  if (!isLongEnough(id)) return null
  const all = store.sessions()
  const sessions = all.filter((record) => record.sessionId.startsWith(id))
  if (sessions.length > 0) return sessions.length === 1 ? sessions[0]! : null
  const seats = new Set(all.filter((record) => record.seatId.startsWith(id)).map((record) => record.seatId))
  return seats.size === 1 ? latestInSeat(store, [...seats][0]!) : null
}

/**
 * Returns the seat (terminal or job) with this id or name.
 * A job's id means the job's current seat.
 * A job that continues a session uses that session's seat.
 */
export function findSeat(store: Store, name: string): SeatRecord | null {
  const job = store.job(name)
  return (job && store.seat(job.seatId)) ?? store.seat(name) ?? store.seatByName(name)
}

/**
 * True when a shortened id is long enough to name one session or seat.
 * The prefix of seats does not count.
 */
export function isLongEnough(id: string): boolean {
  return id.replace(/^seat_?/, '').length >= 4
}

/**
 * Returns the seat's most recent session, live ones first.
 * An earlier session of the same seat may have been resumed.
 */
function latestInSeat(store: Store, seatId: string): SessionRecord | null {
  const place = ({ state, seenAt }: SessionRecord): string => `${state === 'ended' ? 0 : 1}${seenAt}`
  return store.chain(seatId).reduce<SessionRecord | null>((a, b) => (a !== null && place(a) > place(b) ? a : b), null)
}

const isLive = ({ state }: Pick<Session, 'state'>): boolean => state !== 'ended' && state !== 'unknown'

/** True for a session that was forgotten and has sent no signal since. */
export const isForgotten = ({ forgottenAt, seenAt }: SessionRecord): boolean =>
  forgottenAt !== undefined && seenAt <= forgottenAt

/** True when the default list shows a session: live, or of the last 24 hours, and not forgotten. */
export function isSessionListed(record: SessionRecord, session: Pick<Session, 'state'>, now: Date): boolean {
  return !isForgotten(record) && (isLive(session) || record.seenAt >= dayBefore(now))
}

const dayBefore = (now: Date): string => new Date(now.getTime() - DAY).toISOString()

/**
 * Builders of list entries.
 * `view` only tells whether a session is live and costs far less than a row.
 */
export interface ListEntryBuilders {
  view(record: SessionRecord): Pick<Session, 'state'>
  row(record: SessionRecord): SessionRow
}

/**
 * Returns live sessions and those of the last 24 hours, also ended ones.
 * The sessions are in the order of `compareSessions`.
 */
export function recentSessions(
  store: Store,
  { view, row }: ListEntryBuilders,
  { all, live, now }: { all?: boolean; live?: boolean; now: Date },
): SessionRow[] {
  if (all && !live) return store.sessions().map(row).sort(compareSessions)
  const some = store.sessions(live ? { active: 'only' } : { seenSince: dayBefore(now), active: 'also' })
  // Many sessions that look live may belong to clients that died long ago.
  const isShown = (record: SessionRecord): boolean => {
    const session = view(record)
    return isSessionListed(record, session, now) && (!live || isLive(session))
  }
  return some.filter(isShown).map(row).sort(compareSessions)
}

const STATE_RANK: Record<Session['state'], number> = {
  waiting: 0,
  working: 1,
  compacting: 1,
  idle: 2,
  unknown: 3,
  ended: 4,
}

/** Rank of a session in lists. A brief that waits for its review waits for the user. */
function rankOf(row: SessionRow): number {
  return isLive(row) && row.handoff?.state === 'review' ? STATE_RANK.waiting : STATE_RANK[row.state]
}

/**
 * Orders sessions in every list: waiting for the user, working, idle, ended.
 * Within each state, the newest session comes first.
 * A running session is placed by its start: a list that moves with every signal cannot be read.
 * An ended session is placed by its end, so that the last ended session is found first.
 * web/src/pages/overview/rank-seats.ts orders the page's list in the same way, as a test proves.
 */
export function compareSessions(a: SessionRow, b: SessionRow): number {
  const age = (row: SessionRow): string => (isLive(row) ? row.started_at : (row.ended_at ?? row.seen_at))
  if (rankOf(a) !== rankOf(b)) return rankOf(a) - rankOf(b)
  if (age(a) !== age(b)) return age(a) < age(b) ? 1 : -1
  return a.session_id < b.session_id ? -1 : 1
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

/**
 * Returns the content of `show`: the session, its cycle, the other sessions and briefs of its seat.
 */
export function sessionDetailOf(store: Store, record: SessionRecord, row: SessionRow): Omit<SessionDetail, 'archives'> {
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

function lossView({ loss, startedAt, archiveId, trigger, first, second }: CompactionRecord): LossView[] {
  if (loss === null) return []
  return [
    {
      compaction_started_at: startedAt,
      trigger,
      archive_id: archiveId,
      facts: loss.total,
      facts_kept: loss.kept,
      by_kind: loss.byKind,
      lost: loss.lost.map(({ kind, text, state, line }) => ({ kind, text, state, line })),
      put_back: loss.lost.filter(putBackCheck({ first, second })).length,
    },
  ]
}

/** Returns the row of a session for lists. */
export function sessionRowOf(
  lookout: HindranceSources,
  record: SessionRecord,
  session: Session,
  policy: Policy,
): SessionRow {
  const { store } = lookout
  const { track } = record
  return {
    ...session,
    seat_name: store.seat(record.seatId)?.name ?? null,
    job_id: record.jobId,
    started_at: record.startedAt,
    ended_at: record.endedAt,
    seen_at: record.seenAt,
    tokens_per_step: tokensPerStep(track),
    steps_left: stepsToCompaction(track),
    handoff: openHandoffView(lookout, record.seatId),
    subagents: store.subagents(record.sessionId).map(viewSubagent),
    levels: levelViews(record, policy),
  }
}

function viewSubagent(record: SubagentRecord): SubagentView {
  return {
    subagent_id: record.subagentId,
    type: record.type,
    description: record.description,
    model: record.model,
    used_tokens: record.used,
    window_tokens: record.limits.window,
    used_percent: percentOf(record.used, record.limits.window),
    exact: record.exact,
    updated_at: record.updatedAt,
    spend: viewSpend(record.spend, null),
  }
}
