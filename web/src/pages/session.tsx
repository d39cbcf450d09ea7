import './session/session.css'
import type { SessionDetail } from '../../../src/contract/api/sessions.js'
import { shortId } from '../format.js'
import { Missing, Problem, Skeleton } from '../parts/faces.js'
import { PageHead } from '../parts/page-head.js'
import { Aside } from './session/aside.js'
import { Climb } from './session/climb.js'
import { Head } from './session/head.js'
import { Measure } from './session/measure.js'
import { Messages } from './session/messages.js'
import { Timeline } from './session/timeline.js'
import { useEvents } from './session/use-events.js'
import { useSession } from './session/use-session.js'

export default function Session({ id }: { id: string }) {
  const { session, whole, problem, again } = useSession(id)
  if (session === null) {
    return (
      <>
        <PageHead title={`Session ${shortId(id)}`} label={`Session ${shortId(id)}`} />
        {problem === null ? (
          <Skeleton lines={10} label="Loading the session" />
        ) : (
          <Missing problem={problem} again={again} list={{ href: '/?show=all', name: 'All sessions' }} />
        )}
      </>
    )
  }
  return (
    <article className="session">
      <Head session={session} again={again} />
      {problem !== null && <Problem problem={problem} again={again} />}
      <Measure session={session} />
      <Course session={session} whole={whole} />
    </article>
  )
}

/** What happened is asked for once: the curve and the timeline both tell it. */
function Course({ session, whole }: { session: SessionDetail; whole: boolean }) {
  const happened = useEvents(session.session_id)
  return (
    <>
      <Climb session={session} whole={whole} events={happened.events} />
      <div className="session-columns">
        <Timeline session={session} happened={happened} />
        <div className="session-side">
          <Messages session={session} />
          {whole ? <Aside session={session} /> : <Skeleton lines={6} label="Loading the rest" />}
        </div>
      </div>
    </>
  )
}
