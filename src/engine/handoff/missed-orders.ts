import type { Agent } from '../../agents/agent.js'
import type { HandoffRecord } from '../../contract/records/handoff.js'
import { scaleTimeout } from '../../lib/patience.js'
import type { EngineDependencies } from '../context.js'

/**
 * Milliseconds an order to the plugin module may wait for an idle moment: the user may be typing.
 */
export const ORDER_LIFETIME_MS = 10 * 60_000
/** Milliseconds from the last moment at which an order may begin until its result is expected. */
export const ORDER_RESULT_MS = 5_000
/**
 * Milliseconds for the plugin module to notice an order.
 * The module checks once a second and reports an obstacle at once, but a machine may be slow.
 */
export const ORDER_NOTICE_MS = 10_000
/** Milliseconds after which a waiting process has checked the order to the plugin module. */
const LOOKED_MS = 5_000

/**
 * True when the plugin module does not notice an order.
 * A crashed module leaves its files behind, so the module's files alone do not show this.
 * False also for an old plugin module, which does not report obstacles.
 */
export function isOrderUnnoticed(agent: Agent, liveDir: string, sessionId: string, orderId: string): boolean {
  if (agent.tellsHindrance?.(liveDir, sessionId) !== true) return false
  return (
    agent.hindrance?.(liveDir, sessionId, orderId) === null && agent.orderAnswer?.(liveDir, sessionId, orderId) === null
  )
}

/**
 * Returns when the plugin module must have noticed the order.
 * Null without an order, after it was noticed, or if the module does not report that.
 */
export function orderPickupDeadline(
  { store, agents, liveDir, now }: EngineDependencies,
  handoff: HandoffRecord,
): number | null {
  const { state, way, orderId, dueAt, sessionId } = handoff
  if (state !== 'clearing' || way !== 'mod' || orderId === null || dueAt === null) return null
  const by = Date.parse(dueAt) - ORDER_LIFETIME_MS - ORDER_RESULT_MS + scaleTimeout(ORDER_NOTICE_MS)
  const agent = agents[store.session(sessionId)?.agent ?? '']
  const isLookedAt = now().getTime() > by + LOOKED_MS
  return agent && !isLookedAt && isOrderUnnoticed(agent, liveDir, sessionId, orderId) ? by : null
}

/** Dependencies for reading why a session is not cleared yet. */
export type HindranceSources = Pick<EngineDependencies, 'store' | 'agents' | 'liveDir'>

/**
 * Returns why the session of a handoff is not cleared yet.
 * The plugin module or the typing process reports the reason. Null when there is none.
 */
export function hindranceOf(
  { store, agents, liveDir }: HindranceSources,
  { state, way, orderId, sessionId, hinderedBy }: HandoffRecord,
): string | null {
  if (state !== 'clearing') return null
  if (way === 'tmux') return hinderedBy ?? null
  if (way !== 'mod' || orderId === null) return null
  return agents[store.session(sessionId)?.agent ?? '']?.hindrance?.(liveDir, sessionId, orderId) ?? null
}
