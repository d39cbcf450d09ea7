/**
 * A conversation in terms that no agent owns.
 * Agents translate their transcripts into these entries. `facts/` and `archive/` read the entries.
 */
export type Entry = TextEntry | CallEntry | ResultEntry | CompactionEntry

/** Fields that every entry has. */
interface EntryPosition {
  /** Line number in the transcript, counted from 1. */
  line: number
  /** The producer's clock in milliseconds. Null when the line has no time. */
  at: number | null
  /**
   * The git branch that the agent reports.
   * Set on the first entry and on changes. A command may have switched the branch since.
   */
  branch?: string
}

/**
 * A text by the user or the model.
 * `other`: text of hooks, reminders and other programs, which is never a request of the user.
 */
export interface TextEntry extends EntryPosition {
  kind: 'said'
  by: 'user' | 'agent' | 'other'
  text: string
  /** True when the user wrote the text about a call that they declined. */
  feedback?: boolean
  /** True when the user interrupted the agent here, so its work before this entry is unfinished. */
  stops?: boolean
}

/** A tool call by the agent. */
export interface CallEntry extends EntryPosition {
  kind: 'called'
  callId: string
  tool: string
  act: ToolAction
  /** Working directory of the call. Absent when the transcript does not say. */
  cwd?: string
}

/**
 * The effect of a tool call, as far as the agent's adapter knows the tool.
 * `background`: the command keeps running after its call returned.
 * `whole`: true when `todos` is the complete list, false when it adds or changes entries by id.
 * `written`: the changed parts of the file, new text and replaced text. Absent when unknown.
 * `plan`: title of the plan that the call asks the user to approve.
 */
export type ToolAction =
  | { type: 'read'; path: string }
  | { type: 'change'; path: string; written?: string }
  | { type: 'command'; command: string; background: boolean }
  | { type: 'todos'; todos: Todo[]; whole: boolean }
  | { type: 'ask'; questions: string[]; plan?: string }
  | { type: 'delegate'; task: string }
  | { type: 'other'; words: string }

export interface Todo {
  /** Id of the todo. Null when the agent keeps todos as one list without ids. */
  id: string | null
  text: string
  status: 'open' | 'doing' | 'done' | 'dropped'
}

/** The result of a tool call. */
export interface ResultEntry extends EntryPosition {
  kind: 'returned'
  callId: string
  text: string
  /** True when the call succeeded. Null when the agent does not say whether it did. */
  ok: boolean | null
  /** Exit code. Null when the call was no command, or its exit code is unknown. */
  exitCode: number | null
  interrupted: boolean
  /** The user's answers to an `ask` call, without the questions that were skipped. */
  answers: string[]
  /** Questions of an `ask` call with the user's answers, also when only some were answered. */
  answered?: { question: string; answer: string }[]
  /** True when the call was never executed: denied, blocked, or not possible. */
  refused?: boolean
  /** True when the user declined the call. Absent for calls that a rule or a hook refused. */
  declined?: boolean
  /** All todos after the call, when the result names their ids. */
  todos?: Todo[]
}

/** A compaction: the summary replaced everything before this line except `keptLines`. */
export interface CompactionEntry extends EntryPosition {
  kind: 'compacted'
  /** Cause of the compaction. Null when the transcript does not say. */
  trigger: 'auto' | 'manual' | null
  /** The summary. Null when it is in a later entry. */
  summary: string | null
  /** Lines before this one that the agent still sees verbatim. */
  keptLines: number[]
}
