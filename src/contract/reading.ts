/**
 * Origin of a token count, best source first.
 * `monitor`: another program of the user reported it over HTTP without the token.
 * A monitor's count may cause messages but never a handoff. Any other source replaces it.
 */
export const READING_SOURCES = ['mod', 'query', 'status-line', 'transcript', 'sdk', 'monitor'] as const
export type ReadingSource = (typeof READING_SOURCES)[number]

/**
 * The four token counts that one answer of the model reports. They are never summed over answers.
 */
export interface Usage {
  input: number
  cacheCreation: number
  cacheRead: number
  output: number
}

/** A measurement of one session's main chain. */
export interface Reading {
  /**
   * Input + cache creation + cache read of the last main-chain answer, in tokens.
   * Null from a compaction or clear until the next answer, as the producer does not know.
   */
  used: number | null
  /** The counts behind `used`. Null when the producer reports only the sum. */
  usage: Usage | null
  /** False when the number is an estimate (server-side tools without iterations). */
  exact: boolean
  /** Model of the answer. Null when the producer does not name it. */
  model: string | null
  source: ReadingSource
  /** Id of the answer. Null when the producer does not know it. */
  answerId: string | null
  /**
   * The producer's own clock in any unit, compared only with stamps of the same source.
   * Null when the producer has no clock.
   */
  stamp: number | null
}

/**
 * proactive: compacts before the window is full.
 * reactive: compacts only after the API refused. off: never compacts.
 */
export type CompactionMode = 'proactive' | 'reactive' | 'off'

/** The context window and the compaction point of one session. */
export interface Limits {
  /** The model's context window, in tokens. Null while unknown. */
  window: number | null
  /** Tokens at which the agent compacts, or refuses when `mode` is off. Null while unknown. */
  point: number | null
  mode: CompactionMode
  /** True only when the client itself reported the compaction point. */
  exact: boolean
  /** Short explanation of these numbers for `config explain` and `show`. */
  reason: string
}
