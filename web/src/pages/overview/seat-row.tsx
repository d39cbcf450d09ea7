import { memo, useState } from 'react'
import type { HandoffShown, SessionRow } from '../../../../src/contract/api/sessions.js'
import { groupedText, moneyText, plural, shortId, tokensText } from '../../format.js'
import { waitsFor } from '../../handoff-waits.js'
import { Link } from '../../navigation.js'
import { Gauge, GaugeNumber, GaugeTokens } from '../../parts/gauge.js'
import { LevelMark } from '../../parts/level-mark.js'
import { ModelName } from '../../parts/model-name.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { StateBadge } from '../../parts/state-badge.js'
import { sessionHref } from '../../route.js'
import type { Alarm } from '../../seats/alarms.js'
import { isSameSeat, type Seat } from '../../seats/seats.js'
import { Behind } from './behind.js'

/** One seat: its name, its climb, what it does. Behind it, folded: its subagents and the sessions before. */
export const SeatRow = memo(Row, (a, b) => a.alarm === b.alarm && isSameSeat(a.seat, b.seat))

function Row({ seat, alarm }: { seat: Seat; alarm: Alarm['kind'] | null }) {
  const [open, setOpen] = useState(OPENED.has(seat.seat_id))
  const toggle = (): void => {
    if (open) OPENED.delete(seat.seat_id)
    else OPENED.add(seat.seat_id)
    setOpen(!open)
  }
  const { current, earlier } = seat
  const behind = current.subagents.length + earlier.length
  return (
    <div className="seat" data-over={current.state === 'ended' || undefined} data-alarm={alarm ?? undefined}>
      <div className="seat-line">
        <div className="seat-who">
          <Link href={sessionHref(current.session_id)} data-item="" className="seat-name cut" title={current.session_id}>
            {seat.name}
          </Link>
          <Where row={current} name={seat.name} />
        </div>
        <div className="seat-climb">
          <Gauge figures={current} label={`Context of ${seat.name}`} />
          <GaugeNumber figures={current} />
          <p className="seat-figures">
            {current.used_tokens === null ? <span className="quiet">no reading yet</span> : <GaugeTokens figures={current} />}
            <Forecast row={current} />
          </p>
        </div>
        <div className="seat-state">
          <StateBadge state={current.state} />
          <Signs row={current} />
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
            {behind > 0 && (
              <button type="button" className="fold" aria-expanded={open} onClick={toggle}>
                {summary(current.subagents.length, earlier.length)}
              </button>
            )}
          </div>
        </div>
      </div>
      {open && <Behind seat={seat} />}
    </div>
  )
}

/** What somebody unfolded stays so while its row is out of sight. */
const OPENED = new Set<string>()

function Where({ row, name }: { row: SessionRow; name: string }) {
  const folder = row.project ?? row.cwd
  const parts = [
    row.seat_name === null || folder === null ? null : folder.split('/').filter(Boolean).at(-1),
    row.branch,
    row.job_id,
  ].filter((part) => part !== null && part !== undefined && part !== name)
  return (
    <span className="seat-where cut quiet" title={folder ?? undefined}>
      {parts.length === 0 ? shortId(row.session_id) : parts.join(' · ')}
    </span>
  )
}

function Forecast({ row }: { row: SessionRow }) {
  if (row.steps_left === null || row.state === 'ended') return null
  return (
    <span
      className="quiet nowrap"
      title={`${groupedText(row.tokens_per_step)} tokens a step in this cycle (${tokensText(row.used_tokens)} used)`}
    >
      {row.steps_left === 0 ? 'compacts next' : `~${plural(row.steps_left, 'step')} left`}
    </span>
  )
}

/** What else is so: the level, a handoff under way, compactions behind it, Baton silenced. */
function Signs({ row }: { row: SessionRow }) {
  const isCalm = row.level === null && row.handoff === null && row.enabled
  return (
    <span className="seat-signs">
      <LevelMark level={row.level} percent={row.compaction_percent} hideName={row.handoff !== null} />
      {row.handoff !== null && <HandoffSign handoff={row.handoff} />}
      {!row.enabled && <span className="sign">silenced</span>}
      {isCalm && row.compactions > 0 && <span className="quiet">{plural(row.compactions, 'compaction')}</span>}
    </span>
  )
}

function HandoffSign({ handoff }: { handoff: HandoffShown }) {
  const waits = waitsFor(handoff)
  if (waits === null) return <span className="sign">handoff {handoff.state}</span>
  return <span className="sign sign-waits">handoff waits: {waits}</span>
}

function summary(subagents: number, earlier: number): string {
  const parts = [subagents > 0 ? plural(subagents, 'subagent') : null, earlier > 0 ? `${earlier} earlier` : null]
  return parts.filter((part) => part !== null).join(', ')
}
