import type { ResolvedLevel } from '../contract/level.js'
import type { CompactionRecord } from '../contract/loss.js'
import type { Policy } from '../contract/policy.js'
import type { SessionRecord, SubagentRecord } from '../contract/record.js'
import type { Session } from '../contract/session.js'
import { namedBy } from '../facts/key-of.js'
import { resolveLevels } from '../policy/levels.js'
import { percentOf } from '../policy/percent.js'
import type { Store } from '../store/store.js'
import { viewSpend } from './view.js'
import { underWay, viewBrief } from './view-brief.js'

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

/** Live ones and those of the last 24 hours, ended included, newest first. */
export function recentSessions(
  store: Store,
  view: (record: SessionRecord) => Session,
  options: { all?: boolean; live?: boolean; now: Date },
): Session[] {
  const since = new Date(options.now.getTime() - DAY).toISOString()
  const records = store.sessions()
  const sessions = records.map((record) => ({ session: view(record), seenAt: record.seenAt }))
  return sessions
    .filter(({ session, seenAt }) => {
      const live = session.state !== 'ended' && session.state !== 'unknown'
      return options.live ? live : options.all || live || seenAt >= since
    })
    .map(({ session }) => ({ ...session, handoff: underWay(store, session.seat_id) }))
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

/** What `show` says: the session, its climb, its subagents, its seat's chain and briefs. */
export function detailOf(store: Store, record: SessionRecord, session: Session, policy: Policy): Record<string, unknown> {
  return {
    ...session,
    cycle_started_at: record.track.cycleStartedAt,
    cycle_reason: record.track.cycleReason,
    limits_reason: record.track.limits.reason,
    plan_limits: record.planLimits,
    config_trouble: record.configTrouble,
    levels: levelViews(record, policy),
    subagents: store.subagents(record.sessionId).map(subagentView),
    chain: store.chain(record.seatId).map((one) => ({
      session_id: one.sessionId,
      started_at: one.startedAt,
      ended_at: one.endedAt,
      compactions: one.compactions,
      handoffs: one.handoffs,
      used_tokens: one.track.used,
    })),
    handoff: underWay(store, record.seatId),
    briefs: store.briefs({ seatId: record.seatId }).map(viewBrief),
    losses: store.compactions(record.sessionId).flatMap(lossView),
  }
}

function subagentView(record: SubagentRecord): Record<string, unknown> {
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

function lossView({ loss, startedAt, archiveId, trigger, first, second }: CompactionRecord): Record<string, unknown>[] {
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
