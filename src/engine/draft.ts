import type { Agent } from '../agents/agent.js'
import type { Event, EventType } from '../contract/event.js'
import type { Outbox } from '../contract/outbox.js'
import type { ConfigProblem, Policy, PolicySubject } from '../contract/policy.js'
import type { SessionRecord } from '../contract/record.js'
import type { Signal } from '../contract/signal.js'
import type { Log } from '../lib/log.js'
import type { Store } from '../store/store.js'

/** What the engine is built from; house.ts joins it. */
export interface Parts {
  store: Store
  agents: Record<string, Agent>
  /** The policy in force and what is wrong with the files on disk, if they are not in force. */
  policyOf(subject: PolicySubject): { policy: Policy; problems: ConfigProblem[] }
  now(): Date
  newId(): string
  log: Log
  /** Answers left for hooks that run without a server. */
  outbox: Outbox
  /** Where the mod's reports lie. */
  liveDir: string
}

/** One signal being worked on, inside one transaction. */
export interface Draft {
  parts: Parts
  agent: Agent
  signal: Signal
  record: SessionRecord
  seatName: string | null
  parentSeatId: string | null
  policy: Policy
  enabled: boolean
  /** ISO time of this signal's handling: one clock for all it writes. */
  at: string
  events: Event[]
}

/** The part of a draft that messages need: there are some without a signal. */
export type Desk = Pick<Draft, 'parts' | 'agent' | 'record' | 'at' | 'events'>

export function emit(draft: Desk, type: EventType, data: Record<string, unknown>): void {
  draft.events.push(
    draft.parts.store.addEvent({
      type,
      at: draft.at,
      session_id: draft.record.sessionId,
      seat_id: draft.record.seatId,
      job_id: draft.record.jobId,
      data,
    }),
  )
}
