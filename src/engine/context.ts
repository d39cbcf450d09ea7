import type { Agent } from '../agents/agent.js'
import type { BriefFiles } from '../briefs/brief-keeper.js'
import type { Repository } from '../briefs/mechanical-brief.js'
import type { EventData } from '../contract/api/event-data.js'
import type { Outbox } from '../contract/outbox.js'
import type { ConfigProblem, Policy, ProjectFile } from '../contract/policy.js'
import type { PolicySubject } from '../contract/policy-subject.js'
import type { ArchiveTrigger } from '../contract/records/archive.js'
import type { Event, EventType } from '../contract/records/event.js'
import type { SessionRecord } from '../contract/records/session.js'
import type { Signal } from '../contract/signal.js'
import type { Log } from '../lib/log.js'
import type { Store } from '../store/store.js'
import type { ReadFacts, TranscriptReaders } from './compaction/read-facts.js'

/** Dependencies of the engine. `engine/open-engine.ts` creates them. */
export interface EngineDependencies {
  store: Store
  agents: Record<string, Agent>
  policyOf(subject: PolicySubject): PolicyInForce
  now(): Date
  newId(): string
  log: Log
  /** Answers stored in files for the next hooks while no server runs. */
  outbox: Outbox
  /** Folder of the briefs, and file with the key that signs briefs. */
  briefs: { folder: string; keyFile: string }
  /** Folder of facts kept between two reads of a transcript. */
  factsDir: string
  /** Folder to which the plugin module writes its reports. */
  liveDir: string
  /**
   * Plans an archive of the session's transcripts in their present state.
   * Call the function inside a transaction. Null when there is nothing to archive.
   */
  planArchive(request: ArchiveRequest): { archiveId: string; bytes: number } | null
  /**
   * Reads a session's transcripts before the transaction that calls `planArchive`.
   * Returns key and result, to pass to the transaction as `ahead`.
   */
  lookForArchive(sources: Pick<ArchiveRequest, 'agent' | 'transcript'>): [key: string, looked: unknown]
  /**
   * Access to transcripts, repositories and briefs, loaded at first use (few hooks need it).
   */
  sources(): BriefSources
  /**
   * Loads the part of the engine that only compactions and handoffs need.
   * Call the function `rareWork` of `load-rare-work.ts` instead, which adds the type.
   * Naming the type here would make it refer to itself.
   */
  loadRareWork(): unknown
  /** Hands work to a background process. */
  leaveWork(work?: BackgroundWork): void
}

/**
 * Work for a background process.
 * `handoff`: type into a terminal or wait for the end of a review.
 * `notice`: notify the user outside the client.
 * Without one of these values, the work is to write archives or read long transcripts.
 */
export type BackgroundWork = 'handoff' | 'notice'

export interface PolicyInForce {
  policy: Policy
  /** Errors found in the configuration files. */
  problems: ConfigProblem[]
  /** The project's configuration file and whether the user accepted it. Null when there is none. */
  project: ProjectFile | null
}

/** Sources of a brief besides the store: transcripts, the repository, earlier briefs. */
export interface BriefSources {
  readers: TranscriptReaders
  /** Version of this program. Facts kept by another version are read again. */
  program: string
  /** Reads the repository. Null when there is none or it could not be read in time. */
  repository(folder: string, withinMs?: number): Repository | null
  keeper: BriefFiles
  /** Monotonic clock in milliseconds, to measure durations. */
  elapsed(): number
}

export interface ArchiveRequest {
  sessionId: string
  agent: string
  project: string | null
  /** The session's title, as in `ArchiveRecord`. */
  title?: string | null
  trigger: ArchiveTrigger
  transcript: string | null
}

/**
 * Delivery of messages. `answer`: in the answer to this hook, which the client waits for.
 * `outbox`: in a file for the next hook. `keep`: the messages stay queued.
 */
export type MessageDelivery = 'answer' | 'outbox' | 'keep'

/**
 * The way a signal arrived:
 *
 *   token        over HTTP, with the server's token
 *   hook         no server runs: the hook itself started this process and waits for the answer
 *   own-process  any other process of this user: the library, or the reader of a spooled signal
 */
export type SignalOrigin = 'token' | 'hook' | 'own-process'

/** Options for processing one signal. */
export interface TakeOptions {
  deliver: MessageDelivery
  /** Id of a signal that may arrive twice, from a file and by HTTP. Only the first one counts. */
  signalId?: string
  /** True when no server runs. The next hook is then told whether to wait for the engine. */
  unserved?: boolean
  /**
   * True in a server that watches live reports. Hooks of tool batches are then told whether to ask.
   */
  served?: boolean
  /**
   * True for a second read for the same signal.
   * Token counts may be newer, but the event itself was processed.
   */
  again?: boolean
  /**
   * The way by which the signal arrived. Decides whether its answer may be a brief.
   * An absent way means `own-process` (see `brief-origin.ts`).
   */
  origin?: SignalOrigin
  /** True when the runner of the session's job sent the signal. */
  byRunner?: boolean
}

/** A signal being processed, inside one transaction. */
export interface SignalContext {
  deps: EngineDependencies
  agent: Agent
  signal: Signal
  record: SessionRecord
  seatName: string | null
  parentSeatId: string | null
  policy: Policy
  enabled: boolean
  /** True for the first signal of the session. */
  isNew: boolean
  /** True when the hook that sent the signal waits for the answer to it. */
  isAwaited: boolean
  /**
   * True when the client that started the hook has died since.
   * On a busy machine its hook runs for seconds more, but nobody reads its answer.
   */
  isOrphaned: boolean
  /** ISO time of processing, the same for everything that this signal writes. */
  at: string
  events: Event[]
  /** Instructions for the summariser of a starting compaction. Empty for none. */
  instructions: string
  /** Reason to block a starting compaction. Empty to allow the compaction. */
  veto: string
  /** Text that makes the agent continue at the end of this turn. Empty to let the turn end. */
  insistence: string
  /** True when the client can clear a session and begin the next one by itself. */
  takesOrders: boolean
  /**
   * Facts read before the transaction, for a starting compaction or a due brief.
   * Null when none were read.
   */
  read: ReadFacts | null
}

/** The part of a signal's context that messages need. Some messages are sent without a signal. */
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
