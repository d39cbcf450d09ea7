import './overview.css'
import { useDeferredValue, useEffect, useMemo, useRef } from 'react'
import { isSeatOver, seatMatches, seatsOf } from '../../live/seats.js'
import { useLive } from '../../live/use-live.js'
import { useClock } from '../../parts/clock.js'
import { ShellCommand } from '../../parts/copy-button.js'
import { moneyText, tokensText } from '../../parts/format.js'
import { LineIcon } from '../../parts/line-icon.js'
import { Link, useParameter } from '../../parts/navigation.js'
import { PageHead } from '../../parts/page-head.js'
import { EmptyList, Skeleton } from '../../parts/page-states.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { briefHref, sessionHref } from '../../parts/route.js'
import { announceToScreenReader } from '../../parts/toast.js'
import { type Alarm, alarmsOf, DEFAULT_SORT, isSortOrder, SORT_ORDERS, sortSeats } from './rank-seats.js'
import { SeatList } from './seat-list.js'

export default function OverviewPage() {
  const hasSnapshot = useLive((live) => live.epoch > 0)
  const sessions = useLive((live) => live.sessions)
  const briefs = useLive((live) => live.briefs)
  const feed = useLive((live) => live.feed)
  const [typed, setWords] = useParameter('q')
  // Typing stays responsive while the list is filtered.
  const words = useDeferredValue(typed)
  const [show] = useParameter('show')
  const [sort] = useParameter('sort')
  const seats = useMemo(() => seatsOf(sessions.values()), [sessions])
  const alarms = useMemo(() => alarmsOf(seats, briefs.values(), feed), [seats, briefs, feed])
  const active = useMemo(() => seats.filter((seat) => !isSeatOver(seat)), [seats])
  const shown = useMemo(() => {
    const some = show === 'all' || (show === '' && active.length === 0) ? seats : active
    const found = words.trim() === '' ? some : some.filter((seat) => seatMatches(seat, words.trim()))
    return sortSeats(found, isSortOrder(sort) ? sort : DEFAULT_SORT, alarms)
  }, [seats, active, show, words, sort, alarms])
  useAlarmAnnouncements(alarms)

  return (
    <>
      <PageHead title="Overview" label="Overview">
        <SpendToday />
      </PageHead>
      {!hasSnapshot ? (
        <Skeleton lines={8} label="Loading the sessions" />
      ) : seats.length === 0 ? (
        <NoSessions />
      ) : (
        <>
          <Alarms alarms={alarms} />
          <Toolbar active={active.length} all={seats.length} />
          {shown.length === 0 ? (
            <NoMatch words={words} clear={() => setWords('')} />
          ) : (
            <SeatList seats={shown} alarms={alarms} />
          )}
        </>
      )}
    </>
  )
}

function SpendToday() {
  const spend = useLive((live) => live.spendToday)
  if (spend === null || (spend.cost_usd === null && spend.output_tokens === 0)) return null
  return (
    <dl className="spend-today" aria-label="Today">
      <div>
        <dt>spent today</dt>
        <dd>{moneyText(spend.cost_usd)}</dd>
      </div>
      {spend.output_tokens > 0 && (
        <div>
          <dt>output tokens</dt>
          <dd>{tokensText(spend.output_tokens)}</dd>
        </div>
      )}
    </dl>
  )
}

/** Announces new alarms to screen readers. Alarms of the first render are read with the page. */
function useAlarmAnnouncements(alarms: readonly Alarm[]): void {
  const announced = useRef<ReadonlySet<string> | null>(null)
  useEffect(() => {
    const before = announced.current
    announced.current = new Set(alarms.map(({ key }) => key))
    const fresh = before === null ? [] : alarms.filter(({ key }) => !before.has(key))
    if (fresh.length > 0) announceToScreenReader(fresh.map(({ name, text }) => `${name} ${text}`).join('. '))
  }, [alarms])
}

const ALARM_SEVERITY: Record<Alarm['kind'], number> = { critical: 4, review: 2, waiting: 2, silent: 3, stale: 3 }
const MAX_ALARMS = 6

/** The alarms that need the user, above everything else on the page. */
function Alarms({ alarms }: { alarms: readonly Alarm[] }) {
  if (alarms.length === 0) return null
  const more = alarms.length - MAX_ALARMS
  return (
    <section className="alarms" aria-labelledby="alarms-title">
      <h2 id="alarms-title" className="unseen">
        Needs attention
      </h2>
      <ul>
        {alarms.slice(0, MAX_ALARMS).map((alarm) => (
          <li key={alarm.key} className="alarm" data-severity={ALARM_SEVERITY[alarm.kind]} data-kind={alarm.kind}>
            <AlarmShape kind={alarm.kind} />
            <Link href={alarm.brief_id === null ? sessionHref(alarm.session_id) : briefHref(alarm.brief_id)}>
              <strong>{alarm.name}</strong> {alarm.text}
            </Link>
            {alarm.until !== null && <Until at={alarm.until} />}
          </li>
        ))}
      </ul>
      {more > 0 && <p className="quiet alarms-more">and {more} more in the list below</p>}
    </section>
  )
}

/** Time until which a brief waits for a review. Empty once it has passed. */
function Until({ at }: { at: string }) {
  const isAhead = useClock((now) => Date.parse(at) > now)
  if (!isAhead) return null
  return (
    <span className="quiet">
      used automatically <RelativeTime at={at} />
    </span>
  )
}

/** Icon of an alarm with a shape per kind, because colour alone is not accessible. */
function AlarmShape({ kind }: { kind: Alarm['kind'] }) {
  return (
    <LineIcon size={14} strokeWidth={1.5}>
      {kind === 'critical' && <path d="M7 1 13 7 7 13 1 7z" fill="currentColor" />}
      {kind === 'waiting' && <path d="M3 3v8M6 3v8M10 7h.01" strokeLinecap="square" strokeWidth="2" />}
      {kind === 'review' && <path d="M3 1.5h8v11H3zM5 5h4M5 8h4" />}
      {(kind === 'silent' || kind === 'stale') && <path d="M7 1.5 13 12.5H1zM7 5.5v3.5M7 10.5v.5" />}
    </LineIcon>
  )
}

/** Search, filter and sort order. They are stored in the address, so that a view can be linked. */
function Toolbar({ active, all }: { active: number; all: number }) {
  const [words, setWords] = useParameter('q')
  const [show, setShow] = useParameter('show')
  const [sort, setSort] = useParameter('sort')
  const chosen = show === 'all' || (show === '' && active === 0) ? 'all' : 'active'
  const choose = (what: 'active' | 'all'): void => setShow(what === 'active' && active > 0 ? '' : what)
  return (
    <search className="toolbar">
      <fieldset className="seat-choice">
        <legend className="unseen">Seats to list</legend>
        {(['active', 'all'] as const).map((what) => (
          <label key={what}>
            <input type="radio" name="show" checked={chosen === what} onChange={() => choose(what)} />
            <span>
              {what === 'active' ? 'Active' : 'Last 24 hours'} <b>{what === 'active' ? active : all}</b>
            </span>
          </label>
        ))}
      </fieldset>
      <input
        type="search"
        value={words}
        onChange={(event) => setWords(event.target.value)}
        placeholder="Search seats, projects, branches, ids"
        aria-label="Search seats"
        aria-keyshortcuts="/"
      />
      <select
        value={isSortOrder(sort) ? sort : DEFAULT_SORT}
        onChange={(event) => setSort(event.target.value === DEFAULT_SORT ? '' : event.target.value)}
        aria-label="Sort by"
      >
        {Object.entries(SORT_ORDERS).map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </search>
  )
}

/** Shown before the first session is recorded: explains how to start. */
function NoSessions() {
  return (
    <EmptyList id="no-sessions" title="No sessions yet">
      <p>Baton shows how full the context of every agent session on this machine is. To see the first one:</p>
      <ol className="first-steps">
        <li>
          <span>Connect your coding agent to Baton.</span>
          <ShellCommand text="baton install" />
        </li>
        <li>
          <span>Start the agent in any folder, as usual. Its session appears here.</span>
          <ShellCommand text="claude" />
        </li>
        <li>
          <span>If nothing appears, find out why.</span>
          <ShellCommand text="baton doctor" />
        </li>
      </ol>
      <p>Or watch a demo first. It needs no account and changes no settings:</p>
      <ShellCommand text="baton demo" />
    </EmptyList>
  )
}

function NoMatch({ words, clear }: { words: string; clear: () => void }) {
  return (
    <EmptyList id="no-match" title="No matches">
      <p>
        {words === '' ? (
          'No seat is listed here.'
        ) : (
          <>No seat contains “{words}” in its name, title, project, branch, model, state or id.</>
        )}
      </p>
      {words !== '' && (
        <button type="button" className="button" onClick={clear}>
          Clear the search
        </button>
      )}
    </EmptyList>
  )
}
