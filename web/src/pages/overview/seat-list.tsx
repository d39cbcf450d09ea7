import { memo, type ReactNode, useEffect, useMemo, useRef, useState } from 'react'
import type { HandoffView, SessionRow } from '../../../../src/contract/api/sessions.js'
import { isSameSeat, type Seat } from '../../live/seats.js'
import {
  countedNoun,
  folderName,
  groupedText,
  moneyText,
  percentText,
  shortId,
  tokensText,
} from '../../parts/format.js'
import { Gauge, GaugeNumber, GaugeTokens, SubagentGauge } from '../../parts/gauge.js'
import { handoffStateText, handoffWaitText } from '../../parts/handoff-text.js'
import { LevelMark } from '../../parts/level-mark.js'
import { ModelName } from '../../parts/model-name.js'
import { Link } from '../../parts/navigation.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { sessionHref } from '../../parts/route.js'
import { StateBadge } from '../../parts/state-badge.js'
import type { Alarm } from './rank-seats.js'

export function SeatList({ seats, alarms }: { seats: readonly Seat[]; alarms: readonly Alarm[] }) {
  const kinds = useMemo(() => new Map([...alarms].reverse().map(({ seat_id, kind }) => [seat_id, kind])), [alarms])
  return (
    <section aria-label="Seats">
      <p className="seat-hint quiet">
        A seat is one terminal or one job. It stays the same when a new session continues the work in it.
      </p>
      <div className="seat-heads" aria-hidden="true">
        <span>Seat</span>
        <span>Context used until compaction</span>
        <span>State</span>
        <span>Model</span>
        <span>Spent</span>
      </div>
      <LongList
        items={seats}
        itemKey={({ seat_id }) => seat_id}
        draw={(seat) => <SeatRow seat={seat} alarm={kinds.get(seat.seat_id) ?? null} />}
        label="Seats"
        estimate={matchMedia('(max-width: 75rem)').matches ? 136 : 67}
      />
    </section>
  )
}

/** Row of a seat with its gauge and state. Subagents and earlier sessions are folded below it. */
const SeatRow = memo(Row, (a, b) => a.alarm === b.alarm && isSameSeat(a.seat, b.seat))

function Row({ seat, alarm }: { seat: Seat; alarm: Alarm['kind'] | null }) {
  const [open, setOpen] = useState(EXPANDED_SEATS.has(seat.seat_id))
  const toggle = (): void => {
    if (open) EXPANDED_SEATS.delete(seat.seat_id)
    else EXPANDED_SEATS.add(seat.seat_id)
    setOpen(!open)
  }
  const { current, earlier } = seat
  const folded = current.subagents.length + earlier.length
  return (
    <div className="seat" data-over={current.state === 'ended' || undefined} data-alarm={alarm ?? undefined}>
      <div className="seat-line">
        <div className="seat-who">
          <Link
            href={sessionHref(current.session_id)}
            data-item=""
            className="seat-name cut"
            title={current.session_id}
          >
            {seat.name}
          </Link>
          <SeatOrigin row={current} name={seat.name} />
        </div>
        <div className="seat-gauge">
          <Gauge figures={current} label={`Context of ${seat.name}`} />
          <GaugeNumber figures={current} />
          <p className="seat-figures">
            {current.used_tokens === null ? (
              <span className="quiet">no figures yet</span>
            ) : (
              <GaugeTokens figures={current} />
            )}
            <Forecast row={current} />
          </p>
        </div>
        <div className="seat-state">
          <StateBadge state={current.state} />
          <SeatSigns row={current} />
        </div>
        <div className="seat-foot">
          <div className="seat-model">
            <ModelName model={current.model} />
            <span className="quiet">
              <RelativeTime at={current.seen_at} />
            </span>
          </div>
          <div className="seat-spend">
            <span>{moneyText(seat.cost_usd)}</span>
            {folded > 0 && (
              <button type="button" className="fold" aria-expanded={open} onClick={toggle}>
                {summary(current.subagents.length, earlier.length)}
              </button>
            )}
          </div>
        </div>
      </div>
      {open && <SeatDetails seat={seat} />}
    </div>
  )
}

/** Seats whose rows are unfolded; remembered while a row is out of view and not drawn. */
const EXPANDED_SEATS = new Set<string>()

function SeatOrigin({ row, name }: { row: SessionRow; name: string }) {
  const folder = row.project ?? row.cwd
  const parts = [
    row.title,
    folder === null ? null : folderName(folder),
    row.branch,
    row.job_id === null ? null : 'job',
  ].filter((part) => part !== null && part !== undefined && part !== name && part !== row.job_id)
  return (
    <span
      className="seat-where cut quiet"
      title={[row.title, folder].filter((part) => part !== null).join('\n') || undefined}
    >
      {parts.length === 0 ? shortId(row.session_id) : parts.join(' · ')}
    </span>
  )
}

function Forecast({ row }: { row: SessionRow }) {
  if (row.steps_left === null || row.state === 'ended') return null
  return (
    <span
      className="quiet nowrap"
      title={`A step is one answer of the model. It takes ${groupedText(row.tokens_per_step)} tokens in this cycle.`}
    >
      {row.steps_left === 0 ? 'compacts at the next step' : `≈${countedNoun(row.steps_left, 'step')} left`}
    </span>
  )
}

/** Badges of a seat: its level, a running handoff, its compactions, and whether Baton is off. */
function SeatSigns({ row }: { row: SessionRow }) {
  // The level of an ended session no longer matters.
  const level = row.state === 'ended' ? null : row.level
  const isCalm = level === null && row.handoff === null && row.enabled
  return (
    <span className="seat-signs">
      <LevelMark level={level} percent={row.compaction_percent} hideName={row.handoff !== null} />
      {row.handoff !== null && <HandoffSign handoff={row.handoff} />}
      {!row.enabled && <span className="sign">Baton off</span>}
      {isCalm && row.compactions > 0 && <span className="quiet">{countedNoun(row.compactions, 'compaction')}</span>}
    </span>
  )
}

function HandoffSign({ handoff }: { handoff: HandoffView }) {
  const waits = handoffWaitText(handoff)
  return (
    <span className="sign sign-handoff" data-handoff={handoff.state} data-waits-for={handoff.hindered_by ?? undefined}>
      {waits === null ? `handoff: ${handoffStateText(handoff)}` : `handoff waits: ${waits}`}
    </span>
  )
}

function summary(subagents: number, earlier: number): string {
  const parts = [
    subagents > 0 ? countedNoun(subagents, 'subagent') : null,
    earlier > 0 ? countedNoun(earlier, 'earlier session') : null,
  ]
  return parts.filter((part) => part !== null).join(', ')
}

/** Subagents, each with the gauge of its own window, and earlier sessions of a seat. */
function SeatDetails({ seat: { current, earlier } }: { seat: Seat }) {
  return (
    <ul className="seat-details">
      {current.subagents.map((subagent) => (
        <li key={subagent.subagent_id}>
          <span className="cut">
            {subagent.type ?? 'subagent'} <span className="quiet">{subagent.description}</span>
          </span>
          <SubagentGauge subagent={subagent} />
          <span className="nowrap">
            {percentText(subagent.used_percent)} <span className="quiet">of its window</span>
          </span>
          <ModelName model={subagent.model} />
          <span className="quiet">
            <RelativeTime at={subagent.updated_at} />
          </span>
        </li>
      ))}
      {earlier.map((row) => (
        <li key={row.session_id}>
          <Link href={sessionHref(row.session_id)} data-item="" className="mono">
            {shortId(row.session_id)}
          </Link>
          <Gauge size="slim" figures={row} label={`Context of the earlier session ${shortId(row.session_id)}`} />
          <span className="nowrap">
            {tokensText(row.used_tokens)} tokens <span className="quiet">when it ended</span>
          </span>
          <ModelName model={row.model} />
          <span className="quiet">
            <RelativeTime at={row.ended_at ?? row.seen_at} />
          </span>
        </li>
      ))}
    </ul>
  )
}

const CHUNK = 20

/**
 * List of any length that draws only the chunks near the screen; other chunks keep their height.
 * `estimate` is the height of one item before it is drawn for the first time.
 */
function LongList<T>(props: {
  items: readonly T[]
  itemKey: (item: T) => string
  draw: (item: T) => ReactNode
  label: string
  className?: string
  estimate: number
}) {
  const { items, itemKey, draw, label, className, estimate } = props
  const chunks = Array.from({ length: Math.ceil(items.length / CHUNK) }, (_, n) =>
    items.slice(n * CHUNK, (n + 1) * CHUNK),
  )
  return (
    <div role="list" aria-label={label} className={className}>
      {chunks.map((chunk, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a chunk is identified by its position
        <Chunk key={n} count={chunk.length} estimate={estimate} near={n === 0}>
          {() =>
            chunk.map((item, place) => (
              <div
                key={itemKey(item)}
                role="listitem"
                aria-setsize={items.length}
                aria-posinset={n * CHUNK + place + 1}
              >
                {draw(item)}
              </div>
            ))
          }
        </Chunk>
      ))}
    </div>
  )
}

function Chunk({
  count,
  estimate,
  near,
  children,
}: {
  count: number
  estimate: number
  near: boolean
  children: () => ReactNode
}) {
  const ref = useRef<HTMLDivElement>(null)
  const [shown, setShown] = useState(near)
  const each = useRef(estimate)
  useEffect(() => {
    const element = ref.current!
    const observer = new IntersectionObserver(
      (entries) => {
        // Several changes may have gathered: only the last one is current.
        const entry = entries.at(-1)
        if (entry === undefined) return
        // A hidden chunk keeps its height; one that holds the focus is never hidden.
        if (!entry.isIntersecting && element.childElementCount > 0)
          each.current = entry.boundingClientRect.height / element.childElementCount
        setShown(entry.isIntersecting || element.contains(document.activeElement))
      },
      { rootMargin: '600px 0px' },
    )
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return (
    <div ref={ref} role="presentation" style={shown ? undefined : { blockSize: `${each.current * count}px` }}>
      {shown && children()}
    </div>
  )
}
