import type { Agent } from '../agents/agent.js'
import type { Event } from '../contract/event.js'
import type { SessionRecord } from '../contract/record.js'
import type { Desk, Draft, Parts } from './draft.js'
import { isEnabled } from './switches.js'

/** A desk at which a session can be left. */
export type LeaveDesk = Desk & Pick<Draft, 'seatName' | 'takesOrders' | 'policy' | 'enabled'>

/** What is needed to write and tell something of a session without a signal at hand. */
export function deskFor(parts: Parts, agent: Agent, record: SessionRecord, events: Event[] = []): LeaveDesk {
  const seatName = parts.store.seat(record.seatId)?.name ?? null
  const { agent: name, project, model, process } = record
  const { policy } = parts.policyOf({ agent: name, project, model, seat: seatName ?? record.seatId })
  const enabled = isEnabled(parts.store, record, policy.enabled)
  const desk = { parts, agent, record, at: parts.now().toISOString(), events, enabled, policy, seatName }
  return {
    ...desk,
    get takesOrders() {
      return process !== null && agent.takesOrders?.(parts.liveDir, record.sessionId, process) === true
    },
  }
}
