/**
 * What a session without any client does. Steps are taken in order over all its turns: one with calls goes on with the turn, one
 * without ends it. The first session that is started plays the first list, the second the second, …
 *
 *   { sessions: [[{ calls: [{ input: 'echo 1' }], used: 150_000 }, { text: 'Done.' }]], replies: [{ when: 'brief', text: '…' }] }
 */
export interface RuntimeScript {
  sessions: ScriptedStep[][]
  /** Given out of turn to a prompt that holds `when`. Takes no step. */
  replies?: (ScriptedStep & { when: string })[]
  /** When the steps have run out; default: `Done.` */
  rest?: ScriptedStep
  /** Default 200,000 and 167,000, proactive. */
  window?: number
  point?: number
  proactive?: boolean
  /** What is used after a compaction; default 20,000. */
  afterCompaction?: number
}

export interface ScriptedCall {
  /** Default: Bash. */
  name?: string
  input?: unknown
  result?: unknown
  failed?: boolean
  /** The client refuses it: its permission mode does not allow it. */
  denied?: boolean
  /** It never returns of itself. */
  hangs?: boolean
}

export interface ScriptedStep {
  text?: string
  calls?: ScriptedCall[]
  /** Tokens the answer was given; absent: as many as the one before. */
  used?: number
  /** Tokens that subagents and helpers of the step took, and what the client says it cost by then. */
  aside?: { tokens: number; costUsd?: number }
  /** Before it answers. */
  delayMs?: number
  /** Path of a file: the answer waits until it exists. */
  until?: string
  /** Retries told before the answer, by HTTP status; null: no answer at all came. */
  retries?: (number | null)[]
  limit?: { name: string; reached: boolean; resetsAt: string | null; usedPercent: number | null }
  /** What runs in the background from here on. */
  tasks?: string[]
  /** Instead of an answer the turn ends so. */
  fails?: { terminal: string; status?: number; text?: string }
  /** No answer ever comes. */
  hangs?: boolean
  /** The client is gone at this point of the step. */
  dies?: { at: DeathPoint; code?: number; signal?: string; trouble?: string }
}

/** In the order of a step. `tool`: the first call was begun and has not returned. */
export type DeathPoint = 'request' | 'answer' | 'tool' | 'batch' | 'result'

/** One request as the model would have got it: everything said in the conversation so far. */
export interface ScriptedRequest {
  sessionId: string
  texts: string[]
}
