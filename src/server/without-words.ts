import type { Withholders } from './mount.js'
import {
  detailWithoutWords,
  doctorWithoutWords,
  jobWithoutWords,
  sessionWithoutWords,
  settingsWithoutWords,
  withoutWords,
} from './withhold.js'

const asItIs = <T>(reply: T): T => reply

/** What is left of each reply for those who have not given the token. */
export const WITHOUT_WORDS = {
  sessions: ({ sessions }) => ({ sessions: sessions.map(sessionWithoutWords) }),
  session: detailWithoutWords,
  readings: asItIs,
  curve: asItIs,
  forecast: asItIs,
  history: asItIs,
  config: settingsWithoutWords,
  doctor: doctorWithoutWords,
  events: ({ events }) => ({ events: events.map(withoutWords) }),
  jobs: ({ jobs }) => ({ jobs: jobs.map(jobWithoutWords) }),
  job: jobWithoutWords,
} satisfies Withholders
