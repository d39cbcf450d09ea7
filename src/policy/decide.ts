import { type Action, asksForHandoff, type Crossing, MODES, type Mode, type ResolvedLevel } from '../contract/level.js'
import type { Policy } from '../contract/policy.js'
import type { Track } from '../contract/records/session.js'
import { guardHandoff, type Lately } from './guards.js'
import { agentText, parentText, type Speaker, userText } from './texts.js'

/** What to do about the levels one reading crossed: at most one message to each listener, with the present figure. */
export interface Decision {
  level: ResolvedLevel
  mode: Mode
  agent: string | null
  user: string | null
  parent: string | null
  /** A handoff is asked for. */
  handoff: boolean
  /** The user is offered a handoff in the same message: the level was reached through its cap. */
  offered: boolean
  /** It is not waited for any longer than this turn: what there is of a brief at its end is used. */
  lastCall: boolean
  /** Set when an action was asked for and a guard stopped it. */
  guard: { name: string; reason: string } | null
}

export interface Circumstances {
  speaker: Speaker
  /** Sessions Baton started itself are only measured: their runner decides. */
  job: boolean
  lately: Lately
  /** Whether the session may be handed over by itself. */
  mayHandOver: boolean
  /** A monitor reported the figure: a handoff needs one of Baton's own. */
  reported: boolean
  /** A user sits at the session and handoffs are not turned off, so one can be offered. */
  mayOffer: boolean
  /** Its handoff has begun: a brief was asked for, or is there. */
  handingOver: boolean
}

/** null: nothing to say (levels without actions only appear on the timeline). */
export function decide(
  crossed: readonly Crossing[],
  track: Track,
  policy: Policy,
  about: Circumstances,
): Decision | null {
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
    mode: mostPressing(speaking),
    agent: toAgent ? agentText(track, top, offered ? 'offered' : about.handingOver || begins ? 'asked' : 'none') : null,
    user: toUser ? userText(track, top, about.speaker, offered ? 'offered' : begins ? 'asked' : 'none') : null,
    handoff,
    offered,
    lastCall: wanted.has('hand-off'),
    parent: wanted.has('parent') ? parentText(track, top, about.speaker) : null,
    guard,
  }
}

const isNoHandoff = (action: Action): boolean => !asksForHandoff({ actions: [action] })

/**
 * A level above another one must not make the message of both less pressing: an untrusted project
 * file may add levels.
 */
function mostPressing(levels: readonly ResolvedLevel[]): Mode {
  return MODES[Math.max(...levels.map(({ mode }) => MODES.indexOf(mode)))]!
}
