/**
 * When a message reaches the agent.
 * sequential: after the turn. important: at the next step. urgent: now.
 */
export const MODES = ['sequential', 'important', 'urgent'] as const
export type Mode = (typeof MODES)[number]

/** An effect of crossing a level. `hook:` and `webhook:` name an entry of `hooks`. */
export type Action =
  | 'user'
  | 'agent'
  | 'parent'
  | 'request-handoff'
  | 'hand-off'
  | 'pause'
  | `hook:${string}`
  | `webhook:${string}`

/** A place in a context window whose size is not known yet. */
export type SinglePosition =
  | { of: 'compaction'; percent: number }
  | { of: 'window'; percent: number }
  | { of: 'tokens'; tokens: number }
  | { of: 'before-compaction'; tokens: number }

/**
 * The place of a level in a context window whose size is not known yet.
 * `first`: the one of two places that is reached first.
 */
export type Position = SinglePosition | { of: 'first'; positions: [SinglePosition, SinglePosition] }

/** A named line in the climb, from the configuration. */
export interface Level {
  name: string
  at: Position
  /** Empty when the level is only recorded on the timeline. */
  actions: Action[]
  mode: Mode
  /**
   * `rule` is the position as written (`70%`, `20k before compaction`), `from` the file or preset.
   */
  rule: string
  from: string
  /**
   * Emits `context_warning` when crossed, even without a message. Levels of preset `tens` do.
   * Absent: the event is emitted only with a message.
   */
  emitsWarning?: true
}

/** A level with its place in one session's window. */
export interface ResolvedLevel extends Level {
  /** Null when the window is unknown, so the level has no place yet. */
  atTokens: number | null
  /**
   * False when the level is at or beyond the compaction point, because the agent compacts first.
   */
  reachable: boolean
  /**
   * True when the token limit comes first, as in `85% or 300k` in a 1M window.
   * A capped level only offers its handoff, unless `handoff.large_window` is `auto`.
   */
  capped: boolean
}

/** A level that a reading reached for the first time in this cycle. */
export interface Crossing extends ResolvedLevel {
  /**
   * False when the session already was above the level: Baton was installed or upgraded,
   * or the session was resumed. A capped level then starts no handoff.
   */
  climbed: boolean
}

export function asksForHandoff({ actions }: Pick<Level, 'actions'>): boolean {
  return actions.includes('request-handoff') || actions.includes('hand-off')
}
