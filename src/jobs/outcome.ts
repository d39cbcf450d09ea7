import type { RuntimeMessage } from '../contract/runtime.js'

/** How the work of one session came to its end, whatever its runtime. */
export type Outcome =
  /** The agent ended its turn by itself. */
  | { how: 'done'; text: string }
  /** Baton stopped it between two batches, because it is full. */
  | { how: 'full' }
  /** The context does not fit any more, and the client did not compact it. */
  | { how: 'too-long'; detail: string }
  /** A hook that is not Baton's ended the turn: the person's own, or a plugin's. */
  | { how: 'hook'; detail: string }
  | { how: 'turns' }
  | { how: 'budget'; detail: string }
  /** Baton stopped it between two batches, because one session may not work longer. */
  | { how: 'too-old' }
  /** `of`: whose time is over, that of the whole job or of the turn for a brief. */
  | { how: 'timeout'; of: 'job' | 'brief' }
  | { how: 'stalled'; silentMs: number }
  /** It does the same again and again. */
  | { how: 'circles'; times: number; call: string }
  /** The provider refuses for now. `until`: when it will not any more, where it said so. */
  | { how: 'limited'; until: string | null; detail: string }
  /** The provider refuses, and time alone changes nothing. */
  | { how: 'refused'; status: number | null; detail: string }
  /** Something failed that may not fail again. */
  | { how: 'trouble'; detail: string }
  /** The client is gone, and nobody ended it. */
  | { how: 'died'; detail: string /** It failed before its first word. */; speechless?: true }
  | { how: 'stopped'; wanted: 'leave' | 'pause' | 'cancel' }

type Result = Extract<RuntimeMessage, { kind: 'result' }>

/** Statuses that mean: not now. */
const LATER = new Set([408, 409, 425, 429, 500, 502, 503, 504, 529])
/** A person's own Stop hook may have the last word; the agent has said its own by then. */
const ENDED = new Set(['completed', 'stop_hook_prevented'])
const FULL = new Set(['prompt_too_long', 'blocking_limit', 'rapid_refill_breaker'])

/**
 * What the end of a turn means, by the client's own word for it and never by whether it calls itself a success: a turn that failed
 * does that too. What Baton itself stopped is known to whoever stopped it, and not judged here. `limit`: what it said last about a limit
 * of the plan that is reached.
 */
export function outcomeOf(result: Result, limit: { resetsAt: string | null } | null): Outcome {
  const { terminal, isError, status, text } = result
  const detail = firstLine(text) || terminal
  if (FULL.has(terminal)) return { how: 'too-long', detail }
  if (terminal === 'hook_stopped') return { how: 'hook', detail: firstLine(text) }
  if (terminal === 'max_turns') return { how: 'turns' }
  if (terminal === 'budget_exhausted') return { how: 'budget', detail: 'the money for it is spent' }
  if (limit !== null && isError) return { how: 'limited', until: limit.resetsAt, detail }
  if (terminal === 'api_error' || status !== null) return byStatus(status, detail)
  if (isError || !ENDED.has(terminal)) return { how: 'trouble', detail }
  return { how: 'done', text }
}

function byStatus(status: number | null, detail: string): Outcome {
  if (status === 429) return { how: 'limited', until: null, detail }
  if (status === null || LATER.has(status)) return { how: 'trouble', detail }
  return { how: 'refused', status, detail }
}

function firstLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? ''
  return line.length > 300 ? `${line.slice(0, 299)}…` : line
}

/** In a few words, for the agent that goes on and for people; '' nothing. */
export function detailOf(outcome: Outcome | undefined): string {
  if (outcome === undefined) return ''
  if ('detail' in outcome) return outcome.detail
  return outcome.how === 'stalled' ? 'the client said nothing any more' : outcome.how
}

/** Of a turn without a single answer: what it means then, and time changes nothing about it. null: what it is. */
export function ofNobody(outcome: Outcome, answers: number, prompt: string, isFirst: boolean): Outcome | null {
  if (answers > 0) return null
  // The client took the prompt for a command of its own, or is none.
  const unasked = 'the client ended its turn without asking the model: a prompt such as /clear is a command to it'
  if (outcome.how === 'done') return { how: 'refused', status: null, detail: unasked }
  // Of itself it does so again, as with an option that it does not know.
  if (outcome.how === 'died' && outcome.speechless && isFirst)
    return { how: 'refused', status: null, detail: outcome.detail }
  // Later it is the session that no longer fits: it is handed over.
  if (outcome.how !== 'too-long' || !isFirst) return null
  const size = `its ${prompt.length.toLocaleString('en-US')} characters`
  return {
    how: 'refused',
    status: null,
    detail: `the first prompt of a session does not fit into its context (${size}): ${outcome.detail}`,
  }
}

/** Between the first tries a client renews its login, or asks a helper for another key: one that is refused after that is wrong. */
const MOST = 4

/**
 * A key that the provider does not accept. The client itself asks on for three minutes, as after any failure; that changes nothing here,
 * and somebody may be waiting. One for a turn.
 */
export class RefusedKey {
  private row = 0

  /** Why there is no use in asking on; null: there may be. */
  observe(message: RuntimeMessage): Outcome | null {
    if (message.kind === 'answer') this.row = 0
    if (message.kind !== 'retry') return null
    const { status, reason } = message
    if (status !== 401 && status !== 403) {
      this.row = 0
      return null
    }
    return ++this.row < MOST ? null : { how: 'refused', status, detail: `${reason}, ${this.row} times in a row` }
  }
}
