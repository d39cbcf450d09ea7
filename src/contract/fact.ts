/** Something that happened in a conversation, taken from its transcript by code. */
export interface Fact {
  kind: FactKind
  /** What is said to an agent: a request or constraint word for word, a path, a command, a commit's subject, a todo. */
  text: string
  /** Line of the transcript it was last seen at, from 1. */
  line: number
  /** The producer's clock, milliseconds; null when not told. */
  at: number | null
  /** How it stands at the end; which words are used depends on the kind, as below. null: the kind has no state. */
  state: FactState | null
  /** More for machines: exit status, commit id, how often, which command failed, the agent's own id. */
  detail: Record<string, string | number | boolean | null>
}

/**
 * request (verbatim, every prompt of the user) · constraint (required | forbidden) · file (read | changed) · command (ok | failed |
 * running | unknown) · test (passed | failed) · commit · branch · todo (open | done | dropped) · decision · question (open |
 * answered) · error
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
