import type { Agent } from '../../agents/agent.js'
import type { HandoffRecord } from '../../contract/records/handoff.js'
import { scaleTimeout } from '../../lib/patience.js'
import type { EngineDependencies } from '../context.js'

/** How long an order may wait for an idle moment: a person may be typing. */
export const ORDER_MS = 10 * 60_000
/** From the last moment at which it may be begun until its end is expected to be known. */
export const SETTLE_MS = 5_000
/** The part of Baton inside the client looks once a second, and says at once what hinders an order. A busy machine may take its time. */
export const NOTICE_MS = 10_000
/** After that whoever waited for it has looked. */
const LOOKED_MS = 5_000

/**
 * That part may have crashed while its files stay; then nobody notices an order. False also where it would not tell: one of an earlier
 * version, in a client that runs since before.
 */
export function isOverlooked(agent: Agent, liveDir: string, sessionId: string, orderId: string): boolean {
  if (agent.tellsHindrance?.(liveDir, sessionId) !== true) return false
  return (
    agent.hindrance?.(liveDir, sessionId, orderId) === null && agent.orderAnswer?.(liveDir, sessionId, orderId) === null
  )
}

/** When the order of a handoff is to have been noticed; null: it is none, it was, or nobody would tell. */
export function noticedBy({ store, agents, liveDir, now }: EngineDependencies, handoff: HandoffRecord): number | null {
  const { state, way, orderId, dueAt, sessionId } = handoff
  if (state !== 'clearing' || way !== 'mod' || orderId === null || dueAt === null) return null
  const by = Date.parse(dueAt) - ORDER_MS - SETTLE_MS + scaleTimeout(NOTICE_MS)
  const agent = agents[store.session(sessionId)?.agent ?? '']
  const isLookedAt = now().getTime() > by + LOOKED_MS
  return agent && !isLookedAt && isOverlooked(agent, liveDir, sessionId, orderId) ? by : null
}

/** What tells a hindrance. */
export type Lookout = Pick<EngineDependencies, 'store' | 'agents' | 'liveDir'>

/**
 * The reason why the session of a handoff is not cleared: reported by the part inside its client, or
 * by the process that types for it. Null when nothing does, or nobody reports.
 */
export function hindranceOf(
  { store, agents, liveDir }: Lookout,
  { state, way, orderId, sessionId, hinderedBy }: HandoffRecord,
): string | null {
  if (state !== 'clearing') return null
  if (way === 'tmux') return hinderedBy ?? null
  if (way !== 'mod' || orderId === null) return null
  return agents[store.session(sessionId)?.agent ?? '']?.hindrance?.(liveDir, sessionId, orderId) ?? null
}
