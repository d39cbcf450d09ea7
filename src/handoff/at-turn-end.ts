/** What is known at the end of a turn of a session whose brief is wanted. */
export interface TurnEnd {
  /** How often the agent was asked before this turn ended. */
  asked: number
  /** Coverage of the brief in its last answer; null: there is none in it. */
  score: number | null
  /** A brief below the bar that it gave before. */
  hasDraft: boolean
  bar: number
  /** Whether the client lets the agent go on from here with what it is told. */
  canAsk: boolean
}

/** `take`: the brief just given. `take-draft`: the one given before. `write`: Baton writes one itself. */
export type Step = 'ask' | 'ask-again' | 'take' | 'take-draft' | 'write'

const MOST_ASKED = 2

/** The agent is asked for its brief, once more when it is below the bar or missing, and never a third time. */
export function stepAtTurnEnd({ asked, score, hasDraft, bar, canAsk }: TurnEnd): Step {
  const mayAsk = canAsk && asked < MOST_ASKED
  if (score !== null) return score >= bar || !mayAsk ? 'take' : 'ask-again'
  if (hasDraft) return 'take-draft'
  // Asked while it worked, it may have ended its turn before it came to it; asked at the end of a turn, it chose to say something else.
  return mayAsk && asked === 0 ? 'ask' : 'write'
}
