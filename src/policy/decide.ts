import {
  asksForHandoff,
  type Crossing,
  type DeliveryMode,
  type LevelAction,
  MODES,
  type ResolvedLevel,
} from '../contract/level.js'
import type { Policy } from '../contract/policy.js'
import type { Track } from '../contract/records/session.js'
import { guardHandoff, type RecentHandoffs } from './guards.js'
import { agentText, parentText, type TextSubject, userText } from './texts.js'

/**
 * The decision about the levels that one reading crossed:
 * at most one message per recipient, with the current numbers.
 */
export interface LevelDecision {
  level: ResolvedLevel
  /** Text for the agent. Null when the agent gets none; the same for `user` and `parent`. */
  mode: DeliveryMode
  agent: string | null
  user: string | null
  parent: string | null
  /** True when a handoff is requested. */
  handoff: boolean
  /**
   * True when the message offers a handoff, because the level was reached through its token limit.
   */
  offered: boolean
  /** True when the handoff waits only until this turn ends; it then uses the brief as it is. */
  lastCall: boolean
  /** The guard that stopped a requested action. Null when none did. */
  guard: { name: string; reason: string } | null
}

/** Everything besides levels and readings that a decision depends on. */
export interface DecisionContext {
  speaker: TextSubject
  /** True for sessions of jobs. They are only measured, because their runner decides. */
  job: boolean
  lately: RecentHandoffs
  /** True when the session may be handed off without a user. */
  mayHandOver: boolean
  /** True when a monitor reported the number. A handoff needs a reading of Baton's own. */
  reported: boolean
  /**
   * True when a user sits at the session and handoffs are not turned off, so one can be offered.
   */
  mayOffer: boolean
  /** True when the handoff has begun: a brief was requested or exists. */
  handingOver: boolean
}

/**
 * Decides what crossed levels cause. Null when there is nothing to send.
 * Levels without actions appear only on the timeline.
 */
export function decideOnCrossings(
  crossed: readonly Crossing[],
  track: Track,
  policy: Policy,
  about: DecisionContext,
): LevelDecision | null {
  const speaking = crossed.filter((level) => level.actions.length > 0)
  const top = speaking.at(-1)
  if (!top || about.job) return null
  const offersOnly = (level: Crossing): boolean =>
    level.capped && asksForHandoff(level) && (policy.handoff.largeWindow === 'ask' || !level.climbed)
  const wanted = new Set(
    speaking.flatMap((level) => (offersOnly(level) ? level.actions.filter(isNoHandoff) : level.actions)),
  )
  const asks = wanted.has('request-handoff') || wanted.has('hand-off')
  const handoff = asks && !about.reported
  const offered = !asks && !about.handingOver && about.mayOffer && speaking.some(offersOnly)
  const tellsAll =
    speaking.some(asksForHandoff) ||
    wanted.has('pause') ||
    [...wanted].some((action) => action.startsWith('hook:') || action.startsWith('webhook:'))
  const toAgent = wanted.has('agent') || tellsAll
  const guard = handoff ? guardHandoff(track, policy.guards, about.lately) : null
  const begins = handoff && guard === null && about.mayHandOver && !about.handingOver
  const toUser = wanted.has('user') || tellsAll
  return {
    level: top,
    mode: mostUrgent(speaking),
    agent: toAgent ? agentText(track, top, offered ? 'offered' : about.handingOver || begins ? 'asked' : 'none') : null,
    user: toUser ? userText(track, top, about.speaker, offered ? 'offered' : begins ? 'asked' : 'none') : null,
    handoff,
    offered,
    lastCall: wanted.has('hand-off'),
    parent: wanted.has('parent') ? parentText(track, top, about.speaker) : null,
    guard,
  }
}

const isNoHandoff = (action: LevelAction): boolean => !asksForHandoff({ actions: [action] })

/**
 * Returns the most urgent mode. An untrusted project file may add levels.
 * Such a higher level must not make the message of a lower one less urgent.
 */
function mostUrgent(levels: readonly ResolvedLevel[]): DeliveryMode {
  return MODES[Math.max(...levels.map(({ mode }) => MODES.indexOf(mode)))]!
}
