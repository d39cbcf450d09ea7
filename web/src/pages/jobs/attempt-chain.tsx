import { useState } from 'react'
import type { JobShown } from '../../../../src/contract/api/jobs.js'
import { durationText, moneyText, plural, shortId } from '../../format.js'
import { Link } from '../../navigation.js'
import { useClock } from '../../parts/clock.js'
import { Gauge, GaugeNumber, GaugeTokens } from '../../parts/gauge.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { briefHref, sessionHref } from '../../route.js'

type Attempt = JobShown['sessions'][number]

/** Of a long chain the newest count. */
const SHOWN = 4

/** Every session of the job, oldest first, and what each was begun with. */
export function AttemptChain({ sessions, atWork }: { sessions: readonly Attempt[]; atWork: boolean }) {
  const [all, setAll] = useState(false)
  const hidden = all || sessions.length <= SHOWN + 1 ? 0 : sessions.length - SHOWN
  if (sessions.length === 0) return <p className="quiet">No session has begun yet.</p>
  return (
    <ol className="chain">
      {hidden > 0 && (
        <li>
          <button type="button" className="button chain-more" onClick={() => setAll(true)}>
            Show {plural(hidden, 'earlier session')}
          </button>
        </li>
      )}
      {sessions.slice(hidden).map((attempt) => (
        <li key={attempt.session_id}>
          {attempt.number > 1 && <BegunWith attempt={attempt} />}
          <div className="attempt" data-over={attempt.ended_at !== null || undefined}>
            <span className="attempt-number" aria-hidden="true">
              {attempt.number}
            </span>
            <div className="attempt-body">
              <p className="attempt-head">
                <Link href={sessionHref(attempt.session_id)} data-item="" title={attempt.session_id}>
                  Session {attempt.number} <code>{shortId(attempt.session_id)}</code>
                </Link>
                <span className="attempt-figures">
                  <GaugeTokens figures={attempt} /> <GaugeNumber figures={attempt} />
                </span>
              </p>
              <Gauge figures={attempt} label={`Session ${attempt.number}`} />
              <p className="attempt-small quiet">
                <Small attempt={attempt} atWork={atWork} />
              </p>
            </div>
          </div>
        </li>
      ))}
    </ol>
  )
}

function BegunWith({ attempt }: { attempt: Attempt }) {
  return (
    <p className="chain-link">
      {attempt.brief_id === null ? (
        <span className="quiet">{attempt.start === 'resume' ? 'opened again' : 'begun afresh'}</span>
      ) : (
        <>
          <span className="quiet">handed over with</span>{' '}
          <Link href={briefHref(attempt.brief_id)} data-item="">
            brief <code>{shortId(attempt.brief_id.replace(/^brief_/, ''))}</code>
          </Link>
        </>
      )}
    </p>
  )
}

function Small({ attempt, atWork }: { attempt: Attempt; atWork: boolean }) {
  const { started_at: start, ended_at: end, steps, compactions, cost_usd: cost } = attempt
  const lasted = useClock((now) => durationText((end === null ? now : Date.parse(end)) - Date.parse(start)))
  const parts = [
    plural(steps, 'step'),
    ...(compactions > 0 ? [plural(compactions, 'compaction')] : []),
    ...(cost === null ? [] : [moneyText(cost)]),
    ...(end !== null ? [lasted] : atWork ? [`at work for ${lasted}`] : []),
  ]
  return (
    <>
      {parts.join(' · ')} · <RelativeTime at={start} />
    </>
  )
}
