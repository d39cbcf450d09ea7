/**
 * Newly counted spend of one session.
 * Tokens of subagents are included. `steps` counts only answers of the main chain.
 */
export interface SpendIncrement {
  sessionId: string
  at: string
  /** Model of the spend. Null when the model is unknown. */
  model: string | null
  steps: number
  input: number
  output: number
  cacheCreation: number
  cacheRead: number
  /** Cost of the spend. Null when the client reports no cost. */
  costUsd: number | null
}

/**
 * Spend of a session with one model in a quarter of an hour.
 * In some timezones a day begins at a quarter of an hour, so rows cannot be longer.
 */
export interface SpendRow extends Omit<SpendIncrement, 'at'> {
  /** Quarters of an hour since 1970, UTC. */
  quarter: number
  /** Project folder of the session. Null when unknown. */
  project: string | null
}

export const QUARTER_MS = 15 * 60_000
