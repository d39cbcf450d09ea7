import { Link } from '../../navigation.js'
import { useClock } from '../../parts/clock.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { briefHref, sessionHref } from '../../route.js'
import type { Alarm } from '../../seats/alarms.js'

const GRAVITY: Record<Alarm['kind'], number> = { critical: 4, review: 2, waiting: 2, silent: 3, stale: 3 }
const MOST = 6

/** What wants a person, before everything else. */
export function Alarms({ alarms }: { alarms: readonly Alarm[] }) {
  if (alarms.length === 0) return null
  const more = alarms.length - MOST
  return (
    <section className="alarms" aria-labelledby="alarms-title">
      <h2 id="alarms-title" className="unseen">
        Needs attention
      </h2>
      <ul>
        {alarms.slice(0, MOST).map((alarm) => (
          <li key={alarm.key} className="alarm" data-severity={GRAVITY[alarm.kind]} data-kind={alarm.kind}>
            <AlarmShape kind={alarm.kind} />
            <Link href={alarm.brief_id === null ? sessionHref(alarm.session_id) : briefHref(alarm.brief_id)}>
              <strong>{alarm.name}</strong> {alarm.text}
            </Link>
            {alarm.until !== null && <Until at={alarm.until} />}
          </li>
        ))}
      </ul>
      {more > 0 && <p className="quiet alarms-more">and {more} more below</p>}
    </section>
  )
}

/** Until when a brief waits; nothing once that is over. */
function Until({ at }: { at: string }) {
  const isAhead = useClock((now) => Date.parse(at) > now)
  if (!isAhead) return null
  return (
    <span className="quiet">
      used <RelativeTime at={at} />
    </span>
  )
}

/** A shape of its own for each kind: colour alone tells nothing. */
function AlarmShape({ kind }: { kind: Alarm['kind'] }) {
  return (
    <svg viewBox="0 0 14 14" width="14" height="14" aria-hidden="true" fill="none" stroke="currentColor" strokeWidth="1.5">
      {kind === 'critical' && <path d="M7 1 13 7 7 13 1 7z" fill="currentColor" />}
      {kind === 'waiting' && <path d="M3 3v8M6 3v8M10 7h.01" strokeLinecap="square" strokeWidth="2" />}
      {kind === 'review' && <path d="M3 1.5h8v11H3zM5 5h4M5 8h4" />}
      {(kind === 'silent' || kind === 'stale') && <path d="M7 1.5 13 12.5H1zM7 5.5v3.5M7 10.5v.5" />}
    </svg>
  )
}
