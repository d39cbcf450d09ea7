import type { AttemptRecord } from '../contract/job.js'

/**
 * What a job does when somebody begins to run it, or its last session has ended. By what is stored of the last attempt:
 *
 *   none                 the first session begins
 *   starting             it was never told anything: it begins, under an id of its own if a client was started with the first
 *   prompted             it was told, or about to be. Where the transcript or the journal shows that it heard, it is resumed; else it begins
 *   working              it is resumed
 *   stopped, asked       its brief is still wanted: a handoff goes on
 *   over                 it has ended: a job that goes on after its end resumes it
 */
export type Plan = { do: 'begin' } | { do: 'begin-again' } | { do: 'resume' } | { do: 'hand-off' }

export function planAttempt(last: AttemptRecord | null, heard: boolean): Plan {
  if (last === null) return { do: 'begin' }
  switch (last.state) {
    case 'starting':
      return { do: 'begin-again' }
    case 'prompted':
      return heard ? { do: 'resume' } : { do: 'begin-again' }
    case 'stopped':
    case 'asked':
      return { do: 'hand-off' }
    default:
      return { do: 'resume' }
  }
}
