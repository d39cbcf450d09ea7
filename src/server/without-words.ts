import type { Withholders } from './mount.js'
import { detailWithoutWords, jobWithoutWords, sessionWithoutWords, withoutWords } from './withhold.js'

const asItIs = <T>(reply: T): T => reply

/** What is left of each reply for those who have not given the token. */
export const WITHOUT_WORDS = {
  sessions: ({ sessions }) => ({ sessions: sessions.map(sessionWithoutWords) }),
  session: detailWithoutWords,
  readings: asItIs,
  curve: asItIs,
  events: ({ events }) => ({ events: events.map(withoutWords) }),
  jobs: ({ jobs }) => ({ jobs: jobs.map(jobWithoutWords) }),
  job: jobWithoutWords,
} satisfies Withholders
