import type { BriefView } from '../contract/api/briefs.js'

/** Steps and minutes until each level and compaction, if the session keeps growing as it did. */
export interface SessionForecast {
  session_id: string
  /** Average growth. Null until the growth is known. */
  tokens_per_step: number | null
  /** Levels in the order they are reached. The last is `compaction`. Unknown numbers are null. */
  levels: {
    name: string
    at_tokens: number | null
    steps: number | null
    low: number | null
    high: number | null
    minutes: number | null
  }[]
}

/** A brief with its text. */
export interface WrittenBrief extends BriefView {
  text: string
}
