import type { Agent } from '../agents/agent.js'
import type { Trigger } from '../contract/archive.js'
import type { Event, EventType } from '../contract/event.js'
import type { Outbox } from '../contract/outbox.js'
import type { ConfigProblem, Policy, PolicySubject } from '../contract/policy.js'
import type { SessionRecord } from '../contract/record.js'
import type { Signal } from '../contract/signal.js'
import type { Log } from '../lib/log.js'
import type { Store } from '../store/store.js'
import type { Around } from './around.js'
import type { ReadFacts } from './read-facts.js'

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
  /** Where briefs are kept, and what they are signed with. */
  briefs: { folder: string; keyFile: string }
  /** Where facts are kept between two looks at a transcript. */
  factsDir: string
  /** Where the mod's reports lie. */
  liveDir: string
  /** Makes sure that what a session's transcripts hold now is kept; called inside a transaction. null: there is nothing to keep. */
  planArchive(request: ArchiveRequest): { archiveId: string; bytes: number } | null
  /** What is done around a compaction. Loaded only then: it is large, and most hooks never see one. */
  around(): Around
  /** There is work that no hook should wait for: archives to be written, long transcripts to be read; or a terminal to be typed into. */
  leaveWork(work?: 'handoff'): void
}

export interface ArchiveRequest {
  sessionId: string
  agent: string
  project: string | null
  trigger: Trigger
  transcript: string | null
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
  /** What the summariser of a compaction that begins is to be told; '' nothing. */
  instructions: string
  /** Why the compaction that begins must not come about; '' it may. */
  veto: string
  /** What the agent is to go on with at the end of this turn; '' nothing. */
  insistence: string
  /** The client can clear a session and begin the next one by itself. */
  takesOrders: boolean
  /** Facts read before the transaction, for a compaction that begins or a brief that is due; null: none were. */
  read: ReadFacts | null
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
