/** Something that happened in a conversation, extracted from its transcript by code. */
export interface Fact {
  kind: FactKind
  /** Text as given to an agent: a verbatim request, a path, a command or a commit's subject. */
  text: string
  /** Line of the transcript where the fact last appeared, counted from 1. */
  line: number
  /** The producer's clock in milliseconds. Null when the line has no time. */
  at: number | null
  /**
   * Final state of the fact; `FactKind` lists the states of each kind. Null when the kind has none.
   */
  state: FactState | null
  /**
   * Details for programs: exit status, commit id, count, the failed command, the agent's own id.
   */
  detail: Record<string, string | number | boolean | null>
}

/**
 * The kinds of facts, with the states that each may have:
 *
 * request     (none)  every prompt of the user, verbatim
 * constraint  required, forbidden
 * file        read, changed
 * command     ok, failed, running, unknown
 * test        passed, failed, unknown (its exit status is hidden and its output says neither)
 * commit      (none)
 * branch      (none)
 * todo        open, done, dropped
 * decision    (none)
 * question    open, answered, dropped (the user passed it over)
 * error       (none)
 * finding     (none)  a statement of the agent that names something specific
 */
export type FactKind =
  | 'request'
  | 'constraint'
  | 'file'
  | 'command'
  | 'test'
  | 'commit'
  | 'branch'
  | 'todo'
  | 'decision'
  | 'question'
  | 'error'
  | 'finding'

export type FactState =
  | 'required'
  | 'forbidden'
  | 'read'
  | 'changed'
  | 'ok'
  | 'failed'
  | 'running'
  | 'unknown'
  | 'passed'
  | 'open'
  | 'done'
  | 'dropped'
  | 'answered'
