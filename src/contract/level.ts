export const MODES = ['sequential', 'important', 'urgent'] as const
export type Mode = (typeof MODES)[number]

/** `user`, `agent`, … or `hook:<name>`, `webhook:<name>`. */
export type Action =
  | 'user'
  | 'agent'
  | 'parent'
  | 'request-handoff'
  | 'hand-off'
  | 'pause'
  | `hook:${string}`
  | `webhook:${string}`

/** Where a level stands, before a session is known. */
export type Position =
  | { of: 'compaction'; percent: number }
  | { of: 'window'; percent: number }
  | { of: 'tokens'; tokens: number }
  | { of: 'before-compaction'; tokens: number }

export interface Level {
  name: string
  at: Position
  /** Empty: the level only appears on the timeline. */
  actions: Action[]
  mode: Mode
  /** The rule as written (`70%`, `20k before compaction`) and where it was written. */
  rule: string
  from: string
}

/** A level placed in one session's window. */
export interface ResolvedLevel extends Level {
  /** null: cannot be placed (the window is not known). */
  atTokens: number | null
  /** False when it lies at or beyond the compaction point, where the agent compacts first. */
  reachable: boolean
}
