/**
 * Script of a runtime without a client. Steps are played in order over all turns of a session.
 * A step with calls continues the turn, a step without calls ends it.
 * The first session plays the first list, the second session the second list.
 * `{ sessions: [[{ calls: [{ input: 'echo 1' }], used: 150_000 }, { text: 'Done.' }]] }`
 */
export interface RuntimeScript {
  sessions: ScriptedStep[][]
  /** Replies to prompts that contain `when`, without using up a step. */
  replies?: (ScriptedStep & { when: string })[]
  /** Step to play when the list of steps is used up. Default: `Done.` */
  rest?: ScriptedStep
  /** Context window in tokens. Defaults here and below: 200,000, 167,000, proactive. */
  window?: number
  point?: number
  proactive?: boolean
  /** Tokens in use after a compaction. Default: 20,000. */
  afterCompaction?: number
}

export interface ScriptedCall {
  /** Tool name. Default: Bash. */
  name?: string
  input?: unknown
  result?: unknown
  failed?: boolean
  /** True when the client's permission mode denies the call. */
  denied?: boolean
  /** True when the call never returns. */
  hangs?: boolean
}

export interface ScriptedStep {
  text?: string
  calls?: ScriptedCall[]
  /** Tokens of the request. Absent: as many as in the step before. */
  used?: number
  /** Tokens of subagents and helper models in this step, and the total cost the client reports. */
  aside?: { tokens: number; costUsd?: number }
  /** Delay before the answer. */
  delayMs?: number
  /** Path of a file: the answer waits until it exists. */
  until?: string
  /** Retries reported before the answer, by HTTP status. Null when no response came. */
  retries?: (number | null)[]
  limit?: { name: string; reached: boolean; resetsAt: string | null; usedPercent: number | null }
  /** Background tasks that run from this step on. */
  tasks?: string[]
  /** Ends the turn with this error instead of an answer. */
  fails?: { terminal: string; status?: number; text?: string }
  /** True when the scripted client never answers at this step. */
  hangs?: boolean
  /** Point of the step at which the client exits. */
  dies?: { at: DeathPoint; code?: number; signal?: string; trouble?: string }
}

/** Points in the order of a step. `tool`: the first call has started and not returned. */
export type DeathPoint = 'request' | 'answer' | 'tool' | 'batch' | 'result'

/** A request as the model would have received it: the whole conversation so far. */
export interface ScriptedRequest {
  sessionId: string
  texts: string[]
}
