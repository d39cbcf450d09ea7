/**
 * The states of one handoff, in order. Each state is stored before Baton acts on it.
 * `engine/handoff/handoff-transitions.ts` explains every state and lists the transitions.
 */
export const HANDOFF_STATES = [
  'requested',
  'written',
  'checked',
  'review',
  'waiting',
  'clearing',
  'confirmed',
  'started',
  'done',
  'failed',
  'cancelled',
] as const
export type HandoffState = (typeof HANDOFF_STATES)[number]

/**
 * How the fresh session is begun.
 * mod: the plugin module inside the client clears the session. tmux: Baton types `/clear`.
 * start: the user clears the session or starts the next one.
 */
export type HandoffWay = 'mod' | 'tmux' | 'start'

/** Origin of the request for a handoff. */
export type HandoffCause = 'level' | 'user' | 'agent' | 'parent' | 'compaction'

/**
 * Text that Baton types into the client's terminal.
 * `sent`: Enter was pressed and the client reacted.
 * If `sent` is false and the typing process died, part of the text may be in the terminal.
 */
export interface TypingInProgress {
  what: 'clear' | 'prompt'
  since: string
  sent: boolean
}

/**
 * A fork (copy) of the session that writes the brief because the agent did not.
 * Runs while the handoff is `requested`. Afterwards this record holds the outcome.
 */
interface ForkWriting {
  /** When the fork was requested. */
  since: string
  /**
   * Number of forks started.
   * Counted before each start, because the process that starts the fork may be killed.
   */
  tries: number
  /**
   * Last line of the transcript when the fork was requested.
   * The fork's brief contains nothing after this line.
   */
  upTo: number
  /** Why Baton writes the brief itself if the fork fails. */
  reason: string
  /** `wrote`: the fork's brief is used. Otherwise a short reason. Null until the fork is over. */
  outcome: string | null
}

/** The stored record of one handoff. */
export interface HandoffRecord {
  handoffId: string
  seatId: string
  /** The session that hands off. */
  sessionId: string
  state: HandoffState
  cause: HandoffCause
  /** The level (warning threshold) that asked for the handoff. Null when no level did. */
  level: string | null
  /** Reason that the requester gave. Null when there was none. */
  reason: string | null
  /** True when no user confirmed the handoff. The limits for unattended handoffs count these. */
  unattended: boolean
  requestedAt: string
  /** When the current state began. */
  stateAt: string
  /** When the handoff is checked again. Null when only the next signal can change its state. */
  dueAt: string | null
  /**
   * True when the agent is not asked for a brief again.
   * The end of its turn then uses the brief that it gave, or Baton's own. Absent means false.
   */
  lastCall?: boolean
  /** How often the agent was asked for the brief. */
  asked: number
  /**
   * The agent's brief with too little coverage. Null when there is none, or it is stored by now.
   */
  draft: string | null
  /** The brief of the handoff. Null until it is stored. */
  briefId: string | null
  /** How the fresh session is begun. Null until that is decided. */
  way: HandoffWay | null
  /** Ways to begin a fresh session that were tried and failed. */
  failedWays: HandoffWay[]
  /**
   * Id of the order to clear the session. A second order with the same id is not executed.
   * Null when no order was given.
   */
  orderId: string | null
  /** The fresh session. Null until it has begun. */
  newSessionId: string | null
  /** The client, if Baton can type into its terminal. Absent or null when Baton cannot. */
  client?: { pid: number; startedAt: string; configDir: string } | null
  /**
   * The process that types, waits for the end of a review or runs a fork.
   * Absent or null when there is none.
   */
  driver?: { pid: number; startedAt: string } | null
  /**
   * Text that Baton is typing into the terminal, stored before the first key.
   * Absent or null when no text of Baton stands in the terminal's composer.
   */
  typing?: TypingInProgress | null
  /**
   * Why Baton does not type into the terminal: turn, dialog or draft.
   * Absent or null when nothing prevents typing, or the reason is unknown.
   */
  hinderedBy?: string | null
  /**
   * Last line of the transcript that the brief was checked against. Absent or null when unknown.
   */
  upTo?: number | null
  /**
   * True when a turn began after the brief was written.
   * The facts of that turn are added before the brief is used. Absent when no turn began.
   */
  stale?: boolean
  /**
   * True when the session was resumed and the user was told about the brief.
   * Only the user may then clear the session. Absent when the session was not resumed.
   */
  offered?: boolean
  /**
   * The question to the user with which the session's last turn ended.
   * The fresh session repeats the question.
   * Absent or null when there was none, or the user has answered it.
   */
  question?: string | null
  /** The fork that writes the brief. Absent when no fork was requested. */
  fork?: ForkWriting
  /** Number of the handoff in its seat (terminal or job), counted from 1. */
  number: number
  /** Tokens used and other readings at the time of the request. Null when unknown. */
  usedTokens: number | null
  windowTokens: number | null
  pointTokens: number | null
  /** Why the handoff failed or was cancelled, in one sentence. Null when it did neither. */
  trouble: string | null
}

/**
 * An order to the plugin module in the client (clear the session or submit a prompt).
 * Executed once when the client is idle. Stored as a file in the live folder.
 */
export interface Order {
  format: 1
  orderId: string
  session: string
  do: 'hand-off' | 'say'
  /**
   * `hand-off`: the first prompt of the fresh session. `say`: the prompt to submit.
   * The prompt begins with `[baton]`.
   */
  prompt: string
  /** Deadline in milliseconds since 1970. After the deadline the order is not begun. */
  until: number
  /**
   * Limit of unattended handoffs per hour. The client refuses the order beyond this limit.
   * Absent when a user asked for the handoff.
   */
  perHour?: number
}

/** The plugin module's answer to an order, stored as a file beside the order. */
export interface OrderAnswer {
  format: 1
  orderId: string
  session: string
  /** `begun`: the order can no longer be withdrawn. */
  state: 'begun' | 'done' | 'refused'
  /** Why the order was refused. Null when it was not. */
  reason: string | null
  at: number
}
