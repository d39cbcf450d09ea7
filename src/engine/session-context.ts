import type { Agent } from '../agents/agent.js'
import type { Event } from '../contract/records/event.js'
import type { SessionRecord } from '../contract/records/session.js'
import { BatonError, EXIT } from '../lib/errors.js'
import type { Store } from '../store/store.js'
import type { EngineDependencies, SessionContext, SignalContext } from './context.js'

/** Context of a session with its policy, to leave the session for a fresh one without a signal. */
export type PolicyContext = SessionContext & Pick<SignalContext, 'seatName' | 'takesOrders' | 'policy' | 'enabled'>

/** Returns a context to store records and emit events about a session without a signal. */
export function sessionContext(
  deps: EngineDependencies,
  agent: Agent,
  record: SessionRecord,
  events: Event[] = [],
): PolicyContext {
  const seatName = deps.store.seat(record.seatId)?.name ?? null
  const { agent: name, project, model, process } = record
  const { policy } = deps.policyOf({ agent: name, project, model, seat: seatName ?? record.seatId })
  const enabled = isEnabled(deps.store, record, policy.enabled)
  const context = { deps, agent, record, at: deps.now().toISOString(), events, enabled, policy, seatName }
  return {
    ...context,
    get takesOrders() {
      return process !== null && agent.takesOrders?.(deps.liveDir, record.sessionId, process) === true
    },
  }
}

/**
 * True when Baton is on for a session.
 * The narrowest switch decides: session, project, all. Without a switch, the configuration decides.
 */
export function isEnabled(
  store: Store,
  record: Pick<SessionRecord, 'sessionId' | 'project'>,
  configured: boolean,
): boolean {
  return store.nearestSwitch(record.sessionId, record.project) ?? configured
}

/**
 * Returns the context of a session that a command names. Throws a BatonError when it is unknown.
 */
export function knownSessionContext(deps: EngineDependencies, sessionId: string): PolicyContext {
  const record = deps.store.session(sessionId)
  const agent = deps.agents[record?.agent ?? '']
  if (!record || !agent)
    throw new BatonError(
      `Baton knows nothing of session ${sessionId}.`,
      'baton status --all lists them.',
      EXIT.notFound,
    )
  return sessionContext(deps, agent, record)
}
