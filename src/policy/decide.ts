import type { Mode, ResolvedLevel } from '../contract/level.js'
import type { Policy } from '../contract/policy.js'
import type { Track } from '../contract/record.js'
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
  /** Its handoff has begun: a brief was asked for, or is there. */
  handingOver: boolean
}

/** null: nothing to say (levels without actions only appear on the timeline). */
export function decide(crossed: readonly ResolvedLevel[], track: Track, policy: Policy, about: Circumstances): Decision | null {
  const speaking = crossed.filter((level) => level.actions.length > 0)
  const top = speaking.at(-1)
  if (!top || about.job) return null
  const wanted = new Set(speaking.flatMap((level) => level.actions))
  const handoff = wanted.has('request-handoff') || wanted.has('hand-off')
  const tellsAll =
    handoff || wanted.has('pause') || [...wanted].some((action) => action.startsWith('hook:') || action.startsWith('webhook:'))
  const toAgent = wanted.has('agent') || tellsAll
  const guard = handoff ? guardHandoff(track, policy.guards, about.lately) : null
  const begins = handoff && guard === null && about.mayHandOver && !about.handingOver
  const toUser = wanted.has('user') || tellsAll
  return {
    level: top,
    mode: top.mode,
    agent: toAgent ? agentText(track, top, about.handingOver || begins) : null,
    user: toUser ? userText(track, top, about.speaker, begins) : null,
    handoff,
    lastCall: wanted.has('hand-off'),
    parent: wanted.has('parent') ? parentText(track, top, about.speaker) : null,
    guard,
  }
}
