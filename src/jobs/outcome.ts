import type { RuntimeMessage } from '../contract/runtime.js'

/** Outcome of one session's work, for every runtime. */
export type Outcome =
  /** The agent ended its turn by itself. */
  | { how: 'done'; text: string }
  /** Baton stopped the session between two batches, because its context is full. */
  | { how: 'full' }
  /** The context no longer fits, and the client did not compact it. */
  | { how: 'too-long'; detail: string }
  /** A hook of the user or of a plugin ended the turn. */
  | { how: 'hook'; detail: string }
  | { how: 'turns' }
  | { how: 'budget'; detail: string }
  /** Baton stopped the session between two batches, because it reached its maximum duration. */
  | { how: 'too-old' }
  /** A time limit ended the session: that of the whole job, or of the turn for a brief. */
  | { how: 'timeout'; of: 'job' | 'brief' }
  | { how: 'stalled'; silentMs: number }
  /** The agent repeats the same tool calls. */
  | { how: 'circles'; times: number; call: string }
  /** The provider refuses for now. `until` is its reset time, if the provider gave one. */
  | { how: 'limited'; until: string | null; detail: string }
  /** The provider refuses, and a retry would not help. */
  | { how: 'refused'; status: number | null; detail: string }
  /** An error that a retry may solve. */
  | { how: 'trouble'; detail: string }
  /** The client exited unexpectedly. */
  | { how: 'died'; detail: string /** True when the client failed before its first message. */; speechless?: true }
  | { how: 'stopped'; wanted: 'leave' | 'pause' | 'cancel' }

type Result = Extract<RuntimeMessage, { kind: 'result' }>

/** HTTP statuses that are temporary. */
const TEMPORARY_STATUSES = new Set([408, 409, 425, 429, 500, 502, 503, 504, 529])
/**
 * Terminal reasons of a finished turn. A Stop hook of the user runs after the agent's last answer.
 */
const FINISHED_REASONS = new Set(['completed', 'stop_hook_prevented'])
const TOO_LONG_REASONS = new Set(['prompt_too_long', 'blocking_limit', 'rapid_refill_breaker'])

/**
 * Interprets the end of a turn by its terminal reason, as failed turns also report success.
 * Turns that Baton itself stopped are not judged here.
 * `limit` is the last usage limit that the client reported as reached.
 */
export function outcomeOf(result: Result, limit: { resetsAt: string | null } | null): Outcome {
  const { terminal, isError, status, text } = result
  const detail = firstLine(text) || terminal
  if (TOO_LONG_REASONS.has(terminal)) return { how: 'too-long', detail }
  if (terminal === 'hook_stopped') return { how: 'hook', detail: firstLine(text) }
  if (terminal === 'max_turns') return { how: 'turns' }
  if (terminal === 'budget_exhausted') return { how: 'budget', detail: 'its budget in USD is spent' }
  if (limit !== null && isError) return { how: 'limited', until: limit.resetsAt, detail }
  if (terminal === 'api_error' || status !== null) return byStatus(status, detail)
  if (isError || !FINISHED_REASONS.has(terminal)) return { how: 'trouble', detail }
  return { how: 'done', text }
}

function byStatus(status: number | null, detail: string): Outcome {
  if (status === 429) return { how: 'limited', until: null, detail }
  if (status === null || TEMPORARY_STATUSES.has(status)) return { how: 'trouble', detail }
  return { how: 'refused', status, detail }
}

function firstLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? ''
  return line.length > 300 ? `${line.slice(0, 299)}…` : line
}

/** Describes an outcome briefly for the resumed agent and for users. Empty without one. */
export function detailText(outcome: Outcome | undefined): string {
  if (outcome === undefined) return ''
  if ('detail' in outcome) return outcome.detail
  return outcome.how === 'stalled' ? 'the client became silent' : outcome.how
}

/**
 * Returns the outcome of a turn in which the model never answered. A retry would not change it.
 * Null when the model answered or the given outcome stands.
 */
export function outcomeWithoutAnswer(
  outcome: Outcome,
  answers: number,
  prompt: string,
  isFirst: boolean,
): Outcome | null {
  if (answers > 0) return null
  // The client took the prompt for a command of its own.
  const unasked = 'the client ended its turn without asking the model: it takes a prompt such as /clear as a command'
  if (outcome.how === 'done') return { how: 'refused', status: null, detail: unasked }
  // The client exited by itself and would do so again, for example over an unknown option.
  if (outcome.how === 'died' && outcome.speechless && isFirst)
    return { how: 'refused', status: null, detail: outcome.detail }
  // After the first turn, the session no longer fits, and it is handed off.
  if (outcome.how !== 'too-long' || !isFirst) return null
  const size = `its ${prompt.length.toLocaleString('en-US')} characters`
  return {
    how: 'refused',
    status: null,
    detail: `the first prompt of a session (${size}) does not fit into its context: ${outcome.detail}`,
  }
}

/**
 * Number of refusals in a row after which a key counts as invalid.
 * A client renews its login or asks a key helper between the first tries.
 */
const MAX_REFUSALS = 4

/**
 * Detects a key that the provider does not accept, for one turn.
 * The client itself retries for three minutes, which does not help with a wrong key.
 */
export class KeyRefusalDetector {
  private row = 0

  /** Returns the refusal once retrying is pointless. Null before that. */
  observe(message: RuntimeMessage): Outcome | null {
    if (message.kind === 'answer') this.row = 0
    if (message.kind !== 'retry') return null
    const { status, reason } = message
    if (status !== 401 && status !== 403) {
      this.row = 0
      return null
    }
    return ++this.row < MAX_REFUSALS
      ? null
      : { how: 'refused', status, detail: `${reason}, ${this.row} times in a row` }
  }
}
