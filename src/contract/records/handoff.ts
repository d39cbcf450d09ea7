/**
 * The states of one handoff, in the order they are passed. Each is stored before anything is done
 * about it. `engine/handoff/handoff-transitions.ts` explains them and says which event leads where.
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

/** How the fresh session is begun. `mod`: by Baton's part inside the client. `tmux`: typed for the user. `start`: by the user's own clear or next start. */
export type HandoffWay = 'mod' | 'tmux' | 'start'

export type HandoffCause = 'level' | 'user' | 'agent' | 'parent' | 'compaction'

/** `sent`: Enter was pressed on it, and the client went on. False: a driver that is gone may have come to any point of it. */
export interface Typing {
  what: 'clear' | 'prompt'
  since: string
  sent: boolean
}

/**
 * A fork of the session writes the brief that its agent did not. It is under way while the handoff is `requested`; after that it tells
 * what became of it.
 */
export interface ForkWriting {
  /** When it was wanted. */
  since: string
  /** How many were begun, stored before each: whoever sees to one may be killed. */
  tries: number
  /** The last line of the transcript when it was wanted: what came later is not in its brief. */
  upTo: number
  /** Why Baton writes the brief itself, if the fork gives none. */
  reason: string
  /** `wrote`: its brief is used. Else why not, in half a sentence. null: it is not over. */
  outcome: string | null
}

/** Everything the store keeps of one handoff. */
export interface HandoffRecord {
  handoffId: string
  seatId: string
  /** The session that is handed over. */
  sessionId: string
  state: HandoffState
  cause: HandoffCause
  /** The level that asked for it; null: none did. */
  level: string | null
  reason: string | null
  /** True: nobody confirmed it by hand; guards count these. */
  unattended: boolean
  requestedAt: string
  /** When the present state began. */
  stateAt: string
  /** When somebody has to look at it again; null: only the next signal can move it. */
  dueAt: string | null
  /** The agent is not asked again: the end of its turn uses the brief it gave, or Baton's own. Absent: it may be. */
  lastCall?: boolean
  /** How often the agent was asked for the brief. */
  asked: number
  /** What the agent gave and was below the bar; null: nothing, or it is kept as a brief by now. */
  draft: string | null
  briefId: string | null
  way: HandoffWay | null
  /** Ways that were tried and did not work. */
  failedWays: HandoffWay[]
  /** Names the order to clear: a second order of the same name is not carried out. */
  orderId: string | null
  newSessionId: string | null
  /** The client, where its terminal can be typed into; absent or null: it cannot. */
  client?: { pid: number; startedAt: string; configDir: string } | null
  /** The process that types, waits for the end of a review or has a fork write; absent or null: none does. */
  driver?: { pid: number; startedAt: string } | null
  /** What is typed, stored before the first key; absent or null: nothing of ours stands there. */
  typing?: Typing | null
  /** The reason why its driver does not type: turn, dialog or draft; absent or null: none, or not known. */
  hinderedBy?: string | null
  /** The last line of the transcript its brief was checked against; absent or null: not known. */
  upTo?: number | null
  /** A turn began since the brief was written: what happened in it is added before the brief is used. Absent: none did. */
  stale?: boolean
  /** Its session was resumed, and the person was told of the brief: it is left when they do it. Absent: no. */
  offered?: boolean
  /**
   * The question to the user that the last turn of the session ended with. The fresh session repeats
   * it first. Absent or null: there was none, or the user has answered it.
   */
  question?: string | null
  /** Absent: no fork was wanted. */
  fork?: ForkWriting
  /** Which handoff of this seat it is, from 1. */
  number: number
  /** The figures when it was asked for. */
  usedTokens: number | null
  windowTokens: number | null
  pointTokens: number | null
  /** Why it failed or was cancelled, in a sentence; null: it did not. */
  trouble: string | null
}

/** What the part of Baton inside the client is asked to do, once, when the client is idle. Lies as a file in the live folder. */
export interface Order {
  format: 1
  orderId: string
  session: string
  do: 'hand-off' | 'say'
  /** `hand-off`: the prompt that begins the fresh session. `say`: the prompt to be given. Begins with `[baton]`. */
  prompt: string
  /** Milliseconds; an order is not begun after it. */
  until: number
  /** A handoff nobody asked for by hand: refused once the client has had so many of the kind within an hour. Left out: a person asked. */
  perHour?: number
}

/** What became of an order: a file beside it. */
export interface OrderAnswer {
  format: 1
  orderId: string
  session: string
  /** `begun`: from here on it cannot be withdrawn. */
  state: 'begun' | 'done' | 'refused'
  reason: string | null
  at: number
}
