import type { Limits, Reading, Usage } from './reading.js'

/** What arrived, before anybody looked inside. Built by the hook program or the server, opened only by an agent's adapter. */
export interface RawSignal {
  agent: string
  /** `status-line` or the client's own event name. */
  kind: string
  /** The client's JSON, unopened. */
  body: string
  /** What the client's environment said: only the names an adapter asks for (see `Agent.environment`). */
  env: Record<string, string>
  /** Our time of arrival, milliseconds since the epoch. */
  at: number
}

/** The client's events in our words. */
export type SignalKind =
  | 'status-line'
  | 'session-start'
  | 'prompt'
  | 'tool-batch'
  | 'turn-end'
  | 'turn-failed'
  | 'compact-start'
  | 'compact-end'
  /** The summariser of a compaction failed; whether the compaction did shows by what comes next. */
  | 'compact-failed'
  | 'session-end'
  | 'subagent-end'
  | 'waiting'
  | 'other'

export type StartSource = 'startup' | 'resume' | 'clear' | 'compact' | 'fork'

/** One event of one session, opened and named. Everything not told is null. */
export interface Signal {
  agent: string
  kind: SignalKind
  /** The client's own event name: answers must repeat it. */
  event: string
  at: number
  sessionId: string
  /** Set when the event happened inside a subagent: it never moves the main chain. */
  subagent: { id: string; type: string | null; transcriptPath: string | null } | null
  cwd: string | null
  project: string | null
  transcriptPath: string | null
  model: string | null
  agentVersion: string | null
  pid: number | null
  /** True: a person sits before it; false: an unattended run. */
  attended: boolean | null
  seat: string | null
  parentSeat: string | null
  jobId: string | null
  /** Where the client says what it does, and where its screen is; absent or null: it does not sit in a terminal that can be typed into. */
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
  /** Ids of the tool calls in this batch: the transcript is up to date once it holds them. */
  toolUseIds: string[]
  toolCalls: number
  reading: Reading | null
  /** The client's own word about its window (status line); absent or null: this event does not say. */
  window?: number | null
  /** Window and point as the teller knows them, in place of derived ones; absent or null: they are looked up. */
  limits?: Limits | null
  /** What the event itself says was spent. Counts only while no transcript tells the same. */
  spend?: Usage & { answers: number }
  /** The name that the user gave the conversation in the client; absent or null: this event does not say. */
  title?: string | null
  /** What a prompt says, where the client tells it. */
  prompt?: string | null
  /**
   * The command that the user gave Baton inside the client; absent or null: none. Its prompt never
   * reaches the model.
   */
  command?: 'status' | 'approve' | 'cancel' | null
  /** The text of the turn's last answer, where the client tells it: the transcript lags behind. */
  lastAnswer?: string | null
  /** Running totals the client reports itself; null when it does not. */
  costUsd: number | null
  planLimits: PlanLimit[] | null
  error: string | null
  /** The turn ended because a usage limit of the plan or the provider was reached. Absent: it did not. */
  limited?: true
}

export interface PlanLimit {
  name: string
  usedPercent: number
  resetsAt: string | null
}

/** How far a transcript has been read. The next read begins at `offset`. */
export interface Cursor {
  path: string
  offset: number
  /** The newest answer already counted: its lines may be split over two reads. */
  answerId?: string
  /** The newest tool calls read of that answer: a batch that names one of them is written down. */
  calls?: string[]
  /** Added to offsets to make stamps that also rise when the file was replaced by a shorter one. */
  base?: number
  /** The offset lies inside an unfinished line too long to keep: the next read drops up to its end. */
  midLine?: boolean
  /** The API refused a prompt as too long and no answer came since: a compaction now is an overflow. */
  refused?: boolean
  /** Bytes passed over unread: what was spent there is not counted. */
  skipped?: number
}

/** One thing the transcript (or a live report) says happened, in the order it was written. */
export type Observed =
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

/** How a compaction that did not come about ended, by the transcript's own word. `stopped`: the turn did, and it with it. */
export type GaveUp = 'blocked' | 'failed' | 'thrashing' | 'stopped'

/** What an agent's adapter found beside the signal: transcript, live report, settings, process. */
export interface Observation {
  /** What was new in the transcript since the cursor, oldest first. */
  observed: Observed[]
  /** Where the next read begins; null: no transcript was readable. */
  cursor: Cursor | null
  /** The cursor this observation started from: the engine refuses it if another process moved on meanwhile. */
  from: Cursor | null
  /** False when the transcript does not yet hold what the signal speaks of. */
  settled: boolean
  /** Tokens spent by the answers in `observed`, each counted once. */
  spend: Usage & { answers: number }
  /** A live report of the client itself (mod), newest only. */
  live: Reading | null
  /** What the session cost so far, where the live report says it. */
  liveCostUsd?: number | null
  /** New in the transcript: a compaction was given up, and none came after it. */
  gaveUp?: GaveUp | null
  /** The client carries out orders by itself (a mod): it can clear a session and begin the next one. */
  takesOrders?: boolean
  /** Somebody else (a hook, a plugin, the program that runs the client) is asked about compactions too, and may forbid them. */
  mayBeForbidden?: boolean
  /** The summary of the compaction that is just ending, where the client's mod has told it already. */
  summary?: string | null
  limits: Limits
  branch: string | null
  /** New in the transcript: how the user or the client named the conversation; absent or null: nothing. */
  title?: { text: string; by: 'client' | 'named' } | null
  subagents: SubagentObservation[]
  /** Identity of the client's process: pid and start time, so that a reused pid is not mistaken. */
  process: { pid: number; startedAt: string } | null
  /** The session this one was forked from, where that can be known. */
  forkedFrom: string | null
}

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
 * A signal that says nothing; whoever tells something puts it over this. It holds every name a signal may have, also those that must be
 * told: a name that is new to a copy of so many makes that copy a hundred times slower to build, and one is built for every signal.
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
 * Whether a client's word for its session can be taken. Ids stand in addresses, names of files and on terminals: one that holds a control
 * character, or reads as a way through folders, could be asked for by nobody and would lead elsewhere.
 */
export const isSessionId = (id: string): boolean =>
  id.trim() !== '' && id.length <= LONGEST_SESSION_ID && !/[\x00-\x1f\x7f-\x9f/\\\u2028\u2029]|\.\./.test(id)
