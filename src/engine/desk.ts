import type { Agent } from '../agents/agent.js'
import type { Event } from '../contract/event.js'
import type { SessionRecord } from '../contract/record.js'
import type { Desk, Draft, Parts } from './draft.js'
import { isEnabled } from './switches.js'

/** What is needed to write and tell something of a session without a signal at hand. */
export function deskFor(parts: Parts, agent: Agent, record: SessionRecord, events: Event[] = []): Desk & Pick<Draft, 'enabled'> {
  const seat = parts.store.seat(record.seatId)?.name ?? record.seatId
  const { policy } = parts.policyOf({ agent: record.agent, project: record.project, model: record.model, seat })
  const enabled = isEnabled(parts.store, record, policy.enabled)
  return { parts, agent, record, at: parts.now().toISOString(), events, enabled }
}
