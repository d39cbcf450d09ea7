import './overview/overview.css'
import { useDeferredValue, useEffect, useMemo, useRef } from 'react'
import { moneyText, tokensText } from '../format.js'
import { useLive } from '../live/use-live.js'
import { useParameter } from '../navigation.js'
import { Skeleton } from '../parts/faces.js'
import { PageHead } from '../parts/page-head.js'
import { announce } from '../parts/toast.js'
import { type Alarm, alarmsOf } from '../seats/alarms.js'
import { isSort, ordered } from '../seats/order.js'
import { isOver, matches, seatsOf } from '../seats/seats.js'
import { Alarms } from './overview/alarms.js'
import { NoMatch, NoSessions } from './overview/nothing.js'
import { SeatList } from './overview/seat-list.js'
import { Toolbar } from './overview/toolbar.js'

export default function Overview() {
  const heard = useLive((live) => live.epoch > 0)
  const sessions = useLive((live) => live.sessions)
  const briefs = useLive((live) => live.briefs)
  const feed = useLive((live) => live.feed)
  const [typed, setWords] = useParameter('q')
  // Typing goes before finding.
  const words = useDeferredValue(typed)
  const [show] = useParameter('show')
  const [sort] = useParameter('sort')
  const seats = useMemo(() => seatsOf(sessions.values()), [sessions])
  const alarms = useMemo(() => alarmsOf(seats, briefs.values(), feed), [seats, briefs, feed])
  const active = useMemo(() => seats.filter((seat) => !isOver(seat)), [seats])
  const shown = useMemo(() => {
    const some = show === 'all' || (show === '' && active.length === 0) ? seats : active
    const found = words.trim() === '' ? some : some.filter((seat) => matches(seat, words.trim()))
    return ordered(found, isSort(sort) ? sort : 'alarms', alarms)
  }, [seats, active, show, words, sort, alarms])
  useSpokenAlarms(alarms)

  return (
    <>
      <PageHead title="Overview" label="Overview">
        <SpendToday />
      </PageHead>
      {!heard ? (
        <Skeleton lines={8} label="Waiting for the first figures" />
      ) : seats.length === 0 ? (
        <NoSessions />
      ) : (
        <>
          <Alarms alarms={alarms} />
          <Toolbar active={active.length} all={seats.length} />
          {shown.length === 0 ? <NoMatch words={words} clear={() => setWords('')} /> : <SeatList seats={shown} alarms={alarms} />}
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
        <dt>today</dt>
        <dd>{moneyText(spend.cost_usd)}</dd>
      </div>
      {spend.output_tokens > 0 && (
        <div>
          <dt>tokens out</dt>
          <dd>{tokensText(spend.output_tokens)}</dd>
        </div>
      )}
    </dl>
  )
}

/** New ones are said to who listens; those that were there when the page opened are read with it. */
function useSpokenAlarms(alarms: readonly Alarm[]): void {
  const known = useRef<ReadonlySet<string> | null>(null)
  useEffect(() => {
    const before = known.current
    known.current = new Set(alarms.map(({ key }) => key))
    const fresh = before === null ? [] : alarms.filter(({ key }) => !before.has(key))
    if (fresh.length > 0) announce(fresh.map(({ name, text }) => `${name} ${text}`).join('. '))
  }, [alarms])
}
