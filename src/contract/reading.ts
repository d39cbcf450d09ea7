/**
 * Where a figure came from, best first. `monitor`: another program of the user reported it over
 * HTTP, without the token. Such a figure may cause messages, but never a handoff, and any figure of
 * Baton's own replaces it.
 */
export const SOURCES = ['mod', 'query', 'status-line', 'transcript', 'sdk', 'monitor'] as const
export type Source = (typeof SOURCES)[number]

/** The four counts one answer of the model reports. Never summed over answers. */
export interface Usage {
  input: number
  cacheCreation: number
  cacheRead: number
  output: number
}

/** One measurement of one session's main chain. */
export interface Reading {
  /** input + cache creation + cache read of the last main-chain answer; null: the producer says it does not know (nothing answered since the last reset). */
  used: number | null
  /** The counts behind `used`; null where the producer gives only the sum. */
  usage: Usage | null
  /** False when the figure is an estimate (server-side tools without iterations). */
  exact: boolean
  model: string | null
  source: Source
  /** The answer's own id where the producer knows it. */
  answerId: string | null
  /** The producer's own clock, any unit. Compared only with stamps of the same source. null: the producer has none. */
  stamp: number | null
}

export type CompactionMode = 'proactive' | 'reactive' | 'off'

/** The window and the point where the agent will compact (or, with compaction off, refuse). */
export interface Limits {
  /** The model's window in tokens; null: not known. */
  window: number | null
  /** Where the agent compacts, or refuses when `mode` is off; null: not known. */
  point: number | null
  mode: CompactionMode
  /** True only when the client itself told the point. */
  exact: boolean
  /** Why these figures: one short phrase for `config explain` and `show`. */
  reason: string
}
