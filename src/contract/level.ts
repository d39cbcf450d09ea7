import type { Usage } from './reading.js'

/**
 * When a message reaches the agent.
 * sequential: after the turn. important: at the next step. urgent: at once.
 */
export const MODES = ['sequential', 'important', 'urgent'] as const
export type DeliveryMode = (typeof MODES)[number]

/** An action when a session reaches a level. `hook:` and `webhook:` name an entry of `hooks`. */
export type LevelAction =
  | 'user'
  | 'agent'
  | 'parent'
  | 'request-handoff'
  | 'hand-off'
  | 'pause'
  | `hook:${string}`
  | `webhook:${string}`

/** A place in a context window of unknown size. */
export type SinglePosition =
  | { of: 'compaction'; percent: number }
  | { of: 'window'; percent: number }
  | { of: 'tokens'; tokens: number }
  | { of: 'before-compaction'; tokens: number }

/**
 * The place of a level (warning threshold) in a context window of unknown size.
 * `first`: of two places, the one that is reached first.
 */
export type Position = SinglePosition | { of: 'first'; positions: [SinglePosition, SinglePosition] }

/** A warning threshold in the context window, from the configuration. */
export interface Level {
  name: string
  at: Position
  /** Actions when the level is reached. Empty when the level is only recorded on the timeline. */
  actions: LevelAction[]
  mode: DeliveryMode
  /**
   * The origin of the level.
   * `rule` is the position as written (`70%`, `20k before compaction`), `from` the file or preset.
   */
  rule: string
  from: string
  /**
   * Emits `context_warning` when crossed, even without a message. Levels of preset `tens` do.
   * Absent when the event is emitted only with a message.
   */
  emitsWarning?: true
}

/** A level with its place in the context window of one session. */
export interface ResolvedLevel extends Level {
  /** Tokens at which the level lies. Null when the window is unknown. */
  atTokens: number | null
  /** False when the agent compacts before the level, which is at or beyond the compaction point. */
  reachable: boolean
  /**
   * True when the token limit comes first, as in `85% or 300k` in a 1M window.
   * A level with that limit only offers its handoff, unless `handoff.large_window` is `auto`.
   */
  capped: boolean
}

/** A level (warning threshold) that a token reading reached for the first time in this cycle. */
export interface Crossing extends ResolvedLevel {
  /**
   * False when the session was above the level before Baton measured it for the first time.
   * A session is first measured late when Baton was installed, upgraded, or it was resumed.
   * A level with a token limit then starts no handoff.
   */
  climbed: boolean
  /**
   * Tokens of the reading that reached the level. Null while that is unknown.
   * One signal may bring several readings, because the client writes its transcript late.
   */
  usedTokens: number | null
  /** Parts of `usedTokens`. Null when the reading's source reports only the sum. */
  usage: Usage | null
}

export function asksForHandoff({ actions }: Pick<Level, 'actions'>): boolean {
  return actions.includes('request-handoff') || actions.includes('hand-off')
}
