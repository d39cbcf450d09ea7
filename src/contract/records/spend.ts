/** What one session spent more than was known before. Subagents' tokens count as their session's; steps are those of the main chain. */
export interface SpendIncrement {
  sessionId: string
  at: string
  /** null: not told. */
  model: string | null
  steps: number
  input: number
  output: number
  cacheCreation: number
  cacheRead: number
  /** null: the client does not say what it cost. */
  costUsd: number | null
}

/** What a session spent with one model in a quarter of an hour: so short, because there are timezones whose days begin at one. */
export interface SpendRow extends Omit<SpendIncrement, 'at'> {
  /** Quarters of an hour since 1970, UTC. */
  quarter: number
  project: string | null
}

export const QUARTER_MS = 15 * 60_000
