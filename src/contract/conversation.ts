/** A conversation in words no agent owns: what an agent's folder makes of its transcript, and `facts/` and `archive/` read. */
export type Entry = Said | Called | Returned | Compacted

interface At {
  /** Line of the transcript, from 1. */
  line: number
  /** The producer's clock, milliseconds; null when the line carries none. */
  at: number | null
  /** The branch the agent says it works on; told with the first entry and where it changed. It may lag behind a command. */
  branch?: string
}

/** Something a person or the model said. Text of hooks, reminders and other programs is `other`: never a request of the user's. */
export interface Said extends At {
  kind: 'said'
  by: 'user' | 'agent' | 'other'
  text: string
  /** The user stopped the agent here: what it was saying or doing before is not finished. */
  stops?: boolean
}

/** The agent called a tool. */
export interface Called extends At {
  kind: 'called'
  callId: string
  tool: string
  act: Act
  /** Where it was called; absent: not told. */
  cwd?: string
}

/**
 * What a call does, as far as the agent's folder knows the tool. `background`: it goes on after its call returned. `whole` false: the
 * todos are added to or change what stood before, by id.
 */
export type Act =
  | { type: 'read'; path: string }
  | { type: 'change'; path: string }
  | { type: 'command'; command: string; background: boolean }
  | { type: 'todos'; todos: Todo[]; whole: boolean }
  | { type: 'ask'; questions: string[] }
  | { type: 'delegate'; task: string }
  | { type: 'other'; words: string }

export interface Todo {
  /** null: the agent keeps todos as one list without ids. */
  id: string | null
  text: string
  status: 'open' | 'doing' | 'done' | 'dropped'
}

/** A call came back. */
export interface Returned extends At {
  kind: 'returned'
  callId: string
  text: string
  /** null: the agent does not say. */
  ok: boolean | null
  /** null: not a command, or not told. */
  exitCode: number | null
  interrupted: boolean
  /** What the user answered to `ask`. */
  answers: string[]
  /** The call was never carried out: denied, blocked, or not possible. */
  refused?: boolean
  /** The todos as they stand after the call, where it tells their ids. */
  todos?: Todo[]
}

/** Everything before this line was replaced by the summary, but for the lines kept. */
export interface Compacted extends At {
  kind: 'compacted'
  trigger: 'auto' | 'manual' | null
  /** null: it stands in a later entry of its own. */
  summary: string | null
  /** Lines before this one the agent went on seeing word for word. */
  keptLines: number[]
}
