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

/** One place in a window, before a session is known. */
export type SinglePosition =
  | { of: 'compaction'; percent: number }
  | { of: 'window'; percent: number }
  | { of: 'tokens'; tokens: number }
  | { of: 'before-compaction'; tokens: number }

/** Where a level stands, before a session is known. `first`: at whichever of two places comes first. */
export type Position = SinglePosition | { of: 'first'; positions: [SinglePosition, SinglePosition] }

export interface Level {
  name: string
  at: Position
  /** Empty: the level only appears on the timeline. */
  actions: Action[]
  mode: Mode
  /** The rule as written (`70%`, `20k before compaction`) and where it was written. */
  rule: string
  from: string
  /**
   * Emits `context_warning` at its crossing even if it tells nobody, as the levels of the preset
   * `tens` do. Absent: only with a message.
   */
  emitsWarning?: true
}

/** A level placed in one session's window. */
export interface ResolvedLevel extends Level {
  /** null: cannot be placed (the window is not known). */
  atTokens: number | null
  /** False when it lies at or beyond the compaction point, where the agent compacts first. */
  reachable: boolean
  /**
   * True when a number of tokens lies before the level's other position (`85% or 300k` in a 1M window).
   * A handoff that such a level asks for is only offered unless `handoff.large_window` is `auto`.
   */
  capped: boolean
}

/** A level that one reading reached for the first time in this cycle. */
export interface Crossing extends ResolvedLevel {
  /**
   * False when the session was above the level already: Baton was installed or upgraded, or the
   * session was resumed. A capped level then hands nothing off.
   */
  climbed: boolean
}

export function asksForHandoff({ actions }: Pick<Level, 'actions'>): boolean {
  return actions.includes('request-handoff') || actions.includes('hand-off')
}
