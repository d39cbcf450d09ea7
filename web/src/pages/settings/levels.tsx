import { useEffect, useRef, useState } from 'react'
import type { Settings } from '../../../../src/contract/api/settings.js'
import { useLive } from '../../live/use-live.js'
import { type Column, DataTable } from '../../parts/data-table.js'
import { DELIVERY_MODES } from '../../parts/delivery-modes.js'
import { folderName, groupedText, percentText, shortId, tokensText } from '../../parts/format.js'
import { Gauge } from '../../parts/gauge.js'
import { LevelMark } from '../../parts/level-mark.js'
import { Section } from '../../parts/page-head.js'
import { severityOf } from '../../parts/severity.js'
import { actionsText } from './policy-text.js'

type Level = Settings['levels'][number]

const COLUMNS: Column<Level>[] = [
  { id: 'name', head: 'Level', cell: ({ name }) => <LevelMark level={name} /> },
  { id: 'rule', head: 'Set at', cell: ({ rule }) => <span className="nowrap">{rule}</span> },
  {
    id: 'tokens',
    head: 'Tokens',
    cell: ({ at_tokens: at, reachable }) => (
      <>
        {groupedText(at)}
        {at !== null && !reachable && <span className="field-trouble"> never reached</span>}
      </>
    ),
    figure: true,
  },
  { id: 'actions', head: 'What happens', cell: ({ actions }) => actionsText(actions), wide: true },
  {
    id: 'mode',
    head: 'Agent is told',
    cell: ({ mode, actions }) =>
      actions.includes('agent') ? <span className="nowrap">{DELIVERY_MODES[mode] ?? mode}</span> : null,
    narrow: 'hide',
  },
  { id: 'from', head: 'Set in', cell: ({ from }) => <ConfiguredIn from={from} /> },
]

/** Place of a level's configuration: `project file baton.yaml, levels[0]`; full path on hover. */
function ConfiguredIn({ from }: { from: string }) {
  return (
    <span className="nowrap" title={from}>
      {from.replace(/\S*\//g, '')}
    </span>
  )
}

/** The effective levels, as a gauge and as a table. */
export function Levels({
  settings,
  session,
  onSession,
}: {
  settings: Settings
  session: string
  onSession: (id: string) => void
}) {
  const used = useLive((live) => live.sessions.get(settings.session_id ?? '')?.used_tokens ?? null)
  return (
    <Section id="levels" title="Levels" aside={<SessionChoice session={session} onSession={onSession} />}>
      <p className="settings-note" data-point={settings.compaction_tokens ?? undefined}>
        {limitsText(settings)}
      </p>
      {settings.levels.length === 0 ? (
        <p>No levels are configured: Baton warns nobody, however full a session is.</p>
      ) : (
        <>
          <LevelGauge settings={settings} used={used} />
          <DataTable
            rows={settings.levels}
            columns={COLUMNS}
            rowKey={(level) => level.name}
            caption="Levels in force, lowest first, and where each comes from"
          />
        </>
      )}
    </Section>
  )
}

function SessionChoice({ session, onSession }: { session: string; onSession: (id: string) => void }) {
  const sessions = useLive((live) => live.sessions)
  const rows = [...sessions.values()].sort((a, b) => b.seen_at.localeCompare(a.seen_at)).slice(0, 200)
  const isListed = session === '' || sessions.has(session)
  return (
    <label className="row settings-choice">
      <span className="quiet">For</span>
      <select value={session} onChange={(event) => onSession(event.target.value)}>
        <option value="">any new session</option>
        {!isListed && <option value={session}>{shortId(session)}</option>}
        {rows.map((row) => (
          <option key={row.session_id} value={row.session_id}>
            {row.seat_name ?? (row.project === null ? 'no project' : folderName(row.project))} ·{' '}
            {shortId(row.session_id)}
            {row.model === null ? '' : ` · ${row.model}`}
          </option>
        ))}
      </select>
    </label>
  )
}

function limitsText({
  compaction_tokens: point,
  window_tokens: window,
  compaction_mode: mode,
  exact,
  limits_reason: reason,
  session_id,
}: Settings): string {
  if (point === null) {
    return session_id === null
      ? 'The place of a level in tokens depends on the context window of the session. Choose a session to see it.'
      : 'The context window of this session is not known yet, so its levels have no place in tokens.'
  }
  const end =
    mode === 'off'
      ? 'The session stops'
      : mode === 'reactive'
        ? 'The session compacts when the API refuses a request, which is expected'
        : 'The session compacts'
  const size = window === null ? '' : ` in a window of ${groupedText(window)}`
  return `${end} at ${exact ? '' : 'about '}${groupedText(point)} tokens${size}: ${reason}.`
}

const CHARACTER = 6.6
const ROW = 34

/** Gauge with the name of every level below it. `used` is null when no session is chosen. */
function LevelGauge({ settings, used }: { settings: Settings; used: number | null }) {
  const { compaction_tokens: point, levels, exact } = settings
  const ref = useRef<HTMLDivElement>(null)
  const width = useWidth(ref)
  const placed = placeLevels(levels, point)
  const labels = placed.map(({ level, percent }) => ({
    name: level.name,
    percent,
    place: level.at_tokens === null ? percentText(percent) : tokensText(level.at_tokens),
  }))
  const rows = labelRows(
    labels.map(({ percent }) => percent),
    labels.map(({ name, place }) => Math.max(name.length, place.length) * CHARACTER),
    width,
  )
  // Without a compaction point the scale ends at 100, because only percentages are known.
  const scale = point ?? 100
  return (
    <div className="level-gauge" ref={ref}>
      <Gauge
        size="row"
        label="Levels on the way to compaction"
        figures={{
          used_tokens: used ?? 0,
          compaction_tokens: scale,
          exact,
          levels: placed.map(({ level, percent }) => ({ name: level.name, at_tokens: (percent / 100) * scale })),
        }}
      />
      <ul
        className="level-labels"
        style={{ blockSize: `${(Math.max(-1, ...rows) + 1) * ROW + 8}px` }}
        aria-hidden="true"
      >
        {labels.map(({ name, percent, place }, n) => (
          <li
            key={name}
            data-severity={severityOf(name, percent)}
            style={{
              insetInlineStart: `${percent}%`,
              insetBlockStart: `${rows[n]! * ROW + 8}px`,
              transform: `translateX(-${shiftOf(percent, Math.max(name.length, place.length) * CHARACTER, width)}%)`,
            }}
          >
            <span>{name}</span>
            <span className="quiet">{place}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Pixels by which a label near an end is moved inwards, so that it is not cut off. */
function shiftOf(percent: number, wide: number, width: number): number {
  const middle = (percent / 100) * width
  const inner = Math.min(Math.max(middle, wide / 2), width - wide / 2)
  return 50 + ((middle - inner) / wide) * 100
}

function useWidth(ref: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(800)
  useEffect(() => {
    if (ref.current === null) return
    const watch = new ResizeObserver(([entry]) => entry && setWidth(entry.contentRect.width))
    watch.observe(ref.current)
    return () => watch.disconnect()
  }, [ref])
  return width
}

export type LevelRule = Settings['levels'][number]

interface PlacedLevel {
  level: LevelRule
  /** Percentage of the compaction point, from 0 to 100. */
  percent: number
}

/**
 * Returns the positions of levels on the gauge.
 * Without a session the compaction point is unknown.
 * Then only levels configured in percent of that point have a position.
 * Of two places joined by `or`, the percentage is shown.
 * The other place comes first only in a large window.
 */
export function placeLevels(levels: readonly LevelRule[], point: number | null): PlacedLevel[] {
  return levels
    .flatMap((level) => {
      const percent = percentOf(level, point)
      return percent === null || percent <= 0 || percent >= 100 ? [] : [{ level, percent }]
    })
    .sort((a, b) => a.percent - b.percent)
}

function percentOf({ at_tokens: at, rule }: LevelRule, point: number | null): number | null {
  if (point !== null) return at === null || point === 0 ? null : (at / point) * 100
  const percentRule = /^\s*(\d+(?:\.\d+)?)\s*%\s*(?:of compaction)?\s*(?:$|or )/i.exec(rule)
  return percentRule === null ? null : Number(percentRule[1])
}

/** Returns the first free row for each label, so that none overlap. Widths are in pixels. */
export function labelRows(percents: readonly number[], widths: readonly number[], width: number): number[] {
  const ends: number[] = []
  return percents.map((percent, n) => {
    const half = widths[n]! / 2
    const middle = Math.min(Math.max((percent / 100) * width, half), width - half)
    const row = ends.findIndex((end) => end + 8 <= middle - half)
    const chosen = row < 0 ? ends.length : row
    ends[chosen] = middle + half
    return chosen
  })
}
