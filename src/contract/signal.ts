import type { Limits, Reading, Usage } from './reading.js'

/**
 * A signal as it arrived, with its payload still undecoded.
 * The hook program or the server creates it. Only an agent's adapter decodes the payload.
 */
export interface RawSignal {
  agent: string
  /** `status-line` or the client's own event name. */
  kind: string
  /** The client's JSON, which is not parsed yet. */
  body: string
  /** Variables of the client's environment, limited to those in `Agent.environment`. */
  env: Record<string, string>
  /** Time of arrival by Baton's clock, in milliseconds since 1970. */
  at: number
}

/** The client's events under names that no client owns. */
export type SignalKind =
  | 'status-line'
  | 'session-start'
  | 'prompt'
  | 'tool-batch'
  | 'turn-end'
  | 'turn-failed'
  | 'compact-start'
  | 'compact-end'
  /** The summariser failed. Later signals show whether the compaction failed too. */
  | 'compact-failed'
  | 'session-end'
  | 'subagent-end'
  | 'waiting'
  | 'other'

export type StartSource = 'startup' | 'resume' | 'clear' | 'compact' | 'fork'

/** A decoded event of one session. A nullable field is null when the event does not contain it. */
export interface Signal {
  agent: string
  kind: SignalKind
  /** The client's own event name. Answers must repeat it. */
  event: string
  at: number
  sessionId: string
  /**
   * The subagent of the event. Such an event never changes the main chain. Null for the main agent.
   */
  subagent: { id: string; type: string | null; transcriptPath: string | null } | null
  cwd: string | null
  project: string | null
  transcriptPath: string | null
  model: string | null
  agentVersion: string | null
  pid: number | null
  /** True when a user sits at the client, false in an unattended run. Null when unknown. */
  attended: boolean | null
  seat: string | null
  parentSeat: string | null
  jobId: string | null
  /**
   * Folder in which the client reports its state, and its tmux pane.
   * Absent or null when Baton cannot type into its terminal.
   */
  terminal?: { configDir: string; pane: string } | null
  start: { source: StartSource } | null
  end: { reason: string } | null
  compaction: {
    trigger: 'auto' | 'manual'
    summary: string | null
    before?: number | null
    after?: number | null
    durationMs?: number | null
  } | null
  /** Ids of the tool calls in this batch. A transcript that contains them is up to date. */
  toolUseIds: string[]
  toolCalls: number
  reading: Reading | null
  /** Window size that the client reports in its status line. Absent or null in other events. */
  window?: number | null
  /**
   * Window and compaction point as the sender knows them.
   * Absent or null when Baton must derive both.
   */
  limits?: Limits | null
  /** Spend that the event itself reports. Ignored when a transcript reports it too. */
  spend?: Usage & { answers: number }
  /** Name that the user gave the conversation in the client. Absent or null when not reported. */
  title?: string | null
  /** Text of the prompt. Absent or null when the client does not send it. */
  prompt?: string | null
  /**
   * A command to Baton that the user typed in the client. Its prompt never reaches the model.
   * Absent or null when there is none.
   */
  command?: 'status' | 'approve' | 'cancel' | null
  /**
   * Text of the turn's last answer, which the transcript may not contain yet.
   * Absent or null when the client does not send it.
   */
  lastAnswer?: string | null
  /** Total cost that the client reports. Null when it reports none. */
  costUsd: number | null
  planLimits: PlanLimit[] | null
  error: string | null
  /** True when a usage limit of the plan or the provider ended the turn. Absent otherwise. */
  limited?: true
}

/** A usage limit of the user's plan, as the client reports it. */
export interface PlanLimit {
  name: string
  usedPercent: number
  /** When the limit resets, ISO 8601. Null when unknown. */
  resetsAt: string | null
}

/** How far a transcript has been read. The next read begins at `offset`. */
export interface Cursor {
  path: string
  offset: number
  /** The newest answer that was counted. Its lines may be split over two reads. */
  answerId?: string
  /**
   * The newest tool calls that were read from the newest answer.
   * If a batch contains one of them, the transcript contains the whole batch.
   */
  calls?: string[]
  /**
   * Number added to offsets, so that stamps keep rising after a shorter file replaced the old one.
   */
  base?: number
  /**
   * True when the offset is inside an unfinished line that is too long to keep.
   * The next read skips to the end of that line.
   */
  midLine?: boolean
  /**
   * True when the API refused a prompt as too long and no answer followed.
   * A compaction after that counts as an overflow.
   */
  refused?: boolean
  /** Bytes that were skipped unread. Tokens spent there are not counted. */
  skipped?: number
}

/** An event found in a transcript or a live report, in the order it was written. */
export type TranscriptEvent =
  | { type: 'answer'; reading: Reading; offset: number }
  | {
      type: 'compaction'
      trigger: 'auto' | 'manual'
      before: number | null
      after: number | null
      durationMs: number | null
      overflow: boolean
      offset: number
    }

/**
 * How a compaction ended that did not complete, according to the transcript.
 * `stopped`: the user stopped the turn and with it the compaction.
 */
export type FailedCompaction = 'blocked' | 'failed' | 'thrashing' | 'stopped'

/** Data that an adapter read besides the signal: transcript, live report, settings, process. */
export interface Observation {
  /** New entries of the transcript since the cursor, oldest first. */
  observed: TranscriptEvent[]
  /** Start of the next read. Null when no transcript was readable. */
  cursor: Cursor | null
  /**
   * The cursor (transcript position) from which these measurements started.
   * The engine rejects the measurements if another process has moved the cursor since.
   */
  from: Cursor | null
  /** False when the transcript does not contain the signal's event yet. */
  settled: boolean
  /** Tokens of the answers in `observed`, each counted once. */
  spend: Usage & { answers: number }
  /** The newest live report of the plugin module inside the client. Null when there is none. */
  live: Reading | null
  /**
   * Cost of the session so far, according to the live report. Absent or null when it does not say.
   */
  liveCostUsd?: number | null
  /**
   * How the last compaction in the new entries failed.
   * Null when none failed or a later one completed.
   */
  gaveUp?: FailedCompaction | null
  /**
   * True when the client's plugin module executes orders:
   * it can clear a session and begin the next one.
   */
  takesOrders?: boolean
  /** True when another hook, plugin or program is asked about compactions and may block them. */
  mayBeForbidden?: boolean
  /**
   * Summary of the compaction that is just ending, if the plugin module has already reported it.
   */
  summary?: string | null
  limits: Limits
  /** Git branch in the working directory. Null outside a repository, or when unknown. */
  branch: string | null
  /**
   * New title in the transcript, from the user or the client. Absent or null when there is none.
   */
  title?: { text: string; by: 'client' | 'named' } | null
  subagents: SubagentObservation[]
  /** Process id and start time of the client, so that a reused pid is not mistaken for it. */
  process: { pid: number; startedAt: string } | null
  /** The session from which this one was forked. Null when unknown or not a fork. */
  forkedFrom: string | null
}

/** Data that an agent's adapter read about one subagent. Fields missing in the files are null. */
export interface SubagentObservation {
  id: string
  type: string | null
  description: string | null
  cursor: Cursor
  from: Cursor | null
  reading: Reading | null
  limits: Limits
  spend: Usage & { answers: number }
}

/**
 * A signal without content. Adapters spread it and set what their event contains.
 * The constant lists every key, also the mandatory ones.
 * Adding a key to a copy of such a large object makes the copy a hundred times slower.
 * One copy is made for every signal.
 */
const BLANK: Signal = {
  agent: '',
  event: '',
  at: 0,
  sessionId: '',
  kind: 'other',
  subagent: null,
  cwd: null,
  project: null,
  transcriptPath: null,
  model: null,
  agentVersion: null,
  pid: null,
  attended: null,
  seat: null,
  parentSeat: null,
  jobId: null,
  terminal: null,
  start: null,
  end: null,
  compaction: null,
  toolUseIds: [],
  toolCalls: 0,
  reading: null,
  window: null,
  limits: null,
  title: null,
  prompt: null,
  command: null,
  lastAnswer: null,
  costUsd: null,
  planLimits: null,
  error: null,
}

export const BLANK_SIGNAL: Omit<Signal, 'agent' | 'event' | 'at' | 'sessionId'> = BLANK

const LONGEST_SESSION_ID = 200

/**
 * Returns true when a client's session id is safe to use in URLs, file names and terminals.
 * Control characters and path separators are rejected: such an id could lead to another folder.
 */
export const isSessionId = (id: string): boolean =>
  id.trim() !== '' && id.length <= LONGEST_SESSION_ID && !/[\x00-\x1f\x7f-\x9f/\\\u2028\u2029]|\.\.|^\.$/.test(id)
