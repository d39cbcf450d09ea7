/**
 * The states of one handoff, in order. Each is stored before it is acted on.
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
 * False: if the typing process died, any part of the text may already be in the terminal.
 */
export interface Typing {
  what: 'clear' | 'prompt'
  since: string
  sent: boolean
}

/**
 * A fork of the session that writes the brief because the agent did not.
 * Active while the handoff is `requested`; afterwards it records the outcome.
 */
interface ForkWriting {
  /** When the fork was requested. */
  since: string
  /**
   * Number of forks started.
   * Counted before each start, because the process that runs one may be killed.
   */
  tries: number
  /**
   * Last line of the transcript when the fork was requested.
   * Its brief contains nothing after this line.
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
  /** The level that asked for the handoff. Null when no level did. */
  level: string | null
  /** Reason that the requester gave. Null when there was none. */
  reason: string | null
  /** True when no user confirmed the handoff. The guards count these. */
  unattended: boolean
  requestedAt: string
  /** When the current state began. */
  stateAt: string
  /** When the handoff is checked again. Null when only the next signal can change its state. */
  dueAt: string | null
  /**
   * True when the agent is not asked again.
   * The end of its turn then uses the brief it gave, or Baton's own. Absent: it may be asked again.
   */
  lastCall?: boolean
  /** How often the agent was asked for the brief. */
  asked: number
  /** The agent's brief that was below the bar. Null when there is none, or it is stored by now. */
  draft: string | null
  /** The brief of the handoff. Null until it is stored. */
  briefId: string | null
  /** How the fresh session is begun. Null until that is decided. */
  way: HandoffWay | null
  /** Ways that were tried and failed. */
  failedWays: HandoffWay[]
  /**
   * Id of the order to clear. A second order with the same id is not executed.
   * Null when no order was given.
   */
  orderId: string | null
  /** The fresh session. Null until it has begun. */
  newSessionId: string | null
  /** The client, if Baton can type into its terminal. Absent or null when it cannot. */
  client?: { pid: number; startedAt: string; configDir: string } | null
  /**
   * The process that types, waits for the end of a review or runs a fork.
   * Absent or null when there is none.
   */
  driver?: { pid: number; startedAt: string } | null
  /**
   * Text being typed, stored before the first key.
   * Absent or null when the terminal contains no text of Baton.
   */
  typing?: Typing | null
  /**
   * Why the driver does not type: turn, dialog or draft.
   * Absent or null when nothing prevents it, or the reason is unknown.
   */
  hinderedBy?: string | null
  /**
   * Last line of the transcript that the brief was checked against. Absent or null when unknown.
   */
  upTo?: number | null
  /**
   * True when a turn began after the brief was written.
   * The facts of that turn are added before the brief is used. Absent: no turn began.
   */
  stale?: boolean
  /**
   * True when the session was resumed and the user was told about the brief.
   * The session is left only when the user clears it. Absent: it was not resumed.
   */
  offered?: boolean
  /**
   * The question to the user with which the session's last turn ended.
   * The fresh session repeats it. Absent or null when there was none, or the user has answered it.
   */
  question?: string | null
  /** Absent when no fork was requested. */
  fork?: ForkWriting
  /** Number of the handoff in its seat, counted from 1. */
  number: number
  /** Readings at the time of the request. Null when unknown. */
  usedTokens: number | null
  windowTokens: number | null
  pointTokens: number | null
  /** Why the handoff failed or was cancelled, in one sentence. Null when it did neither. */
  trouble: string | null
}

/**
 * A request to the plugin module inside the client, executed once when the client is idle.
 * Stored as a file in the live folder.
 */
export interface Order {
  format: 1
  orderId: string
  session: string
  do: 'hand-off' | 'say'
  /**
   * `hand-off`: the first prompt of the fresh session. `say`: the prompt to submit.
   * Begins with `[baton]`.
   */
  prompt: string
  /** Deadline in milliseconds since 1970. An order is not begun after it. */
  until: number
  /**
   * Limit of unattended handoffs per hour; the client refuses the order beyond it.
   * Absent when a user asked for the handoff.
   */
  perHour?: number
}

/** The result of an order, stored as a file beside it. */
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
