import type { HandoffState, HandoffWay } from '../../contract/handoff.js'
import type { SessionRecord } from '../../contract/record.js'
import { clockTime } from '../../handoff/review-text.js'

export interface Next {
  handoff: { state: HandoffState; way: HandoffWay | null; dueAt?: string | null }
  session: Pick<SessionRecord, 'state' | 'attended' | 'jobId'>
  /** Its client still runs, as far as can be told. */
  there: boolean
  /** The agent of the session itself reads this. */
  own: boolean
  /** The request was given to the idle session just now. */
  woken?: boolean
}

const GOES_ON =
  'the session is cleared and a fresh one goes on from the brief, by itself where the client can, else once /clear is typed'

/** What happens to a handoff now, in a sentence. */
export function nextText({ handoff, session, there, own, woken = false }: Next): string {
  if (handoff.state === 'requested') return askedText(session, own, woken)
  if (handoff.state === 'review') return reviewed(handoff.dueAt ?? null)
  if (session.jobId !== null) return 'The session belongs to a job: whoever runs the job decides when the next one begins.'
  if (!there) return 'The session has ended: the brief waits for the next start in its folder.'
  if (session.attended === false)
    return 'The run ends with its turn; the brief then waits for the next interactive start in its folder.'
  if (own) return `End your turn now: then ${GOES_ON}.`
  if (handoff.state === 'clearing')
    return 'It is idle: it is cleared now, and a fresh one goes on from the brief by itself. Where something is typed in its composer, it waits until that is sent or deleted.'
  if (handoff.state === 'waiting')
    return 'It is idle, and nothing here can clear it from outside: type /clear there, and the work goes on.'
  return `When its turn ends, ${GOES_ON}.`
}

function reviewed(dueAt: string | null): string {
  const ways = 'baton handoffs approve <brief>, baton handoffs edit <brief> or baton handoffs cancel <brief>'
  return dueAt === null
    ? `The brief waits for a review: ${ways}.`
    : `The brief waits for a review until ${clockTime(dueAt)} and is then used by itself: ${ways}.`
}

function askedText({ state, jobId, attended }: Next['session'], own: boolean, woken: boolean): string {
  if (jobId !== null) return 'The session belongs to a job, whose runner speaks to it: nothing is said to it from here.'
  if (attended === false)
    return 'The agent is asked at its next tool call or at the end of its turn; the brief then waits for the next start.'
  if (own) return 'You are asked after this tool call, or at the end of your turn; give the brief as your answer then.'
  if (woken) return 'It is idle: its agent is asked now, and handed over at the end of that turn.'
  return state === 'idle'
    ? 'It is idle: its agent is asked in its next turn, and handed over at the end of it.'
    : 'Its agent is asked at the next tool call or at the end of its turn, and handed over once the brief is there.'
}
