import type { HandoffState, HandoffWay } from '../../contract/handoff.js'
import type { SessionRecord } from '../../contract/record.js'

export interface Next {
  handoff: { state: HandoffState; way: HandoffWay | null }
  session: Pick<SessionRecord, 'state' | 'attended' | 'jobId'>
  /** Its client still runs, as far as can be told. */
  there: boolean
  /** The agent of the session itself reads this. */
  own: boolean
}

const GOES_ON =
  'the session is cleared and a fresh one goes on from the brief, by itself where the client can, else once /clear is typed'

/** What happens to a handoff now, in a sentence. */
export function nextText({ handoff, session, there, own }: Next): string {
  if (handoff.state === 'requested') return askedText(session, own)
  if (handoff.state === 'review') return 'The brief waits for a review: baton handoffs approve, edit or cancel.'
  if (session.jobId !== null) return 'The session belongs to a job: whoever runs the job decides when the next one begins.'
  if (!there) return 'The session has ended: the brief waits for the next start in its folder.'
  if (session.attended === false)
    return 'The run ends with its turn; the brief then waits for the next interactive start in its folder.'
  if (own) return `End your turn now: then ${GOES_ON}.`
  if (session.state === 'idle')
    return `It is idle: at the end of its next turn ${GOES_ON}. Typing /clear there now does it at once.`
  return `When its turn ends, ${GOES_ON}.`
}

function askedText({ state, jobId, attended }: Next['session'], own: boolean): string {
  if (jobId !== null) return 'The session belongs to a job, whose runner speaks to it: nothing is said to it from here.'
  if (attended === false)
    return 'The agent is asked at its next tool call or at the end of its turn; the brief then waits for the next start.'
  if (own) return 'You are asked after this tool call, or at the end of your turn; give the brief as your answer then.'
  return state === 'idle'
    ? 'It is idle: its agent is asked in its next turn, and handed over at the end of it.'
    : 'Its agent is asked at the next tool call or at the end of its turn, and handed over once the brief is there.'
}
