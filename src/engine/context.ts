import type { Agent } from '../agents/agent.js'
import type { BriefFiles } from '../briefs/brief-keeper.js'
import type { Repository } from '../briefs/mechanical-brief.js'
import type { EventData } from '../contract/api/event-data.js'
import type { Outbox } from '../contract/outbox.js'
import type { ConfigProblem, Policy, ProjectFile } from '../contract/policy.js'
import type { PolicySubject } from '../contract/policy-subject.js'
import type { Trigger } from '../contract/records/archive.js'
import type { Event, EventType } from '../contract/records/event.js'
import type { SessionRecord } from '../contract/records/session.js'
import type { Signal } from '../contract/signal.js'
import type { Log } from '../lib/log.js'
import type { Store } from '../store/store.js'
import type { Readers, ReadFacts } from './compaction/read-facts.js'

/** What the engine is built from; `engine/open-engine.ts` opens it. */
export interface EngineDependencies {
  store: Store
  agents: Record<string, Agent>
  policyOf(subject: PolicySubject): PolicyInForce
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
  /**
   * Looks at a session's transcripts ahead of `planArchive`. Returns key and result for the `ahead`
   * of a transaction.
   */
  lookForArchive(sources: Pick<ArchiveRequest, 'agent' | 'transcript'>): [key: string, looked: unknown]
  /** Transcripts, repositories and briefs. Loaded when first asked for, because most hooks need none. */
  sources(): BriefSources
  /**
   * Loads the part of the engine that only compactions and handoffs need. Call it by `rareWork` of
   * `load-rare-work.ts`, which knows its type: named here, the type would be part of itself.
   */
  loadRareWork(): unknown
  /** Hands work to a process that no hook waits for. */
  leaveWork(work?: LeftWork): void
}

/**
 * Work that is left to another process. `handoff`: a terminal has to be typed into, or the end of a
 * review waited for. `notice`: the user has to be told something outside the client. Left out:
 * archives have to be written, or long transcripts read.
 */
export type LeftWork = 'handoff' | 'notice'

export interface PolicyInForce {
  policy: Policy
  /** Errors in the configuration files on disk. */
  problems: ConfigProblem[]
  /** The project's file and whether the user accepted it; null without one. */
  project: ProjectFile | null
}

/** The sources of a brief beside the store: transcripts, the repository, earlier briefs. */
export interface BriefSources {
  readers: Readers
  /** Which program reads: facts another one kept are read anew. */
  program: string
  /** null: there is none, or it could not be looked at in time. */
  repository(folder: string, withinMs?: number): Repository | null
  keeper: BriefFiles
  /** Milliseconds that only rise, to tell how long something took. */
  elapsed(): number
}

export interface ArchiveRequest {
  sessionId: string
  agent: string
  project: string | null
  trigger: Trigger
  transcript: string | null
}

/** `answer`: the client waits for this answer. `outbox`: nobody waits, the next hook takes it along. `keep`: it stays in the queue. */
export type Delivery = 'answer' | 'outbox' | 'keep'

/**
 * The way that a signal came:
 *
 *   token    over HTTP, with the server's token
 *   hook     no server runs; this process was started by the hook itself, which waits for the answer
 *   user     anything else that runs as this user: the library, or a signal that a hook left in the
 *            spool and another process takes
 */
export type SignalOrigin = 'token' | 'hook' | 'user'

/** How one signal is to be taken. */
export interface TakeOptions {
  deliver: Delivery
  /** Set for a signal that may arrive twice (kept in a file and sent): it counts once. */
  signalId?: string
  /** No server runs: the next hook is told whether to wait for the engine. */
  unserved?: boolean
  /** A server takes it that watches the spool: the next hook is told whether to wait for an answer. */
  served?: boolean
  /** Another look for the same signal: the figures may be newer, the event itself has been taken. */
  again?: boolean
  /**
   * The way it came, which decides whether its answer may be a brief (`brief-origin.ts`). Left out:
   * `user`.
   */
  origin?: SignalOrigin
  /** It comes from whoever runs the session's job. */
  byRunner?: boolean
}

/** One signal being worked on, inside one transaction. */
export interface SignalContext {
  deps: EngineDependencies
  agent: Agent
  signal: Signal
  record: SessionRecord
  seatName: string | null
  parentSeatId: string | null
  policy: Policy
  enabled: boolean
  /** This is the first signal of the session. */
  isNew: boolean
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
export type SessionContext = Pick<SignalContext, 'deps' | 'agent' | 'record' | 'at' | 'events'>

export function emit<Type extends EventType>(context: SessionContext, type: Type, data: EventData[Type]): void {
  context.events.push(
    context.deps.store.addEvent({
      type,
      at: context.at,
      session_id: context.record.sessionId,
      seat_id: context.record.seatId,
      job_id: context.record.jobId,
      data,
    }),
  )
}
