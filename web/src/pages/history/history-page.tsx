import './history.css'
import { type PointerEvent, type ReactNode, useState } from 'react'
import type { SpendHistory } from '../../../../src/contract/api/history.js'
import type { Event } from '../../../../src/contract/records/event.js'
import { useCall } from '../../api/use-call.js'
import { useRefetchWhileVisible } from '../../api/use-refetch.js'
import type { LiveState } from '../../live/live-state.js'
import { useLive } from '../../live/use-live.js'
import { ShellCommand } from '../../parts/copy-button.js'
import { type Column, DataTable } from '../../parts/data-table.js'
import {
  countedNoun,
  folderName,
  groupedText,
  moneyText,
  percentText,
  tokensText,
  UNKNOWN_TEXT,
} from '../../parts/format.js'
import { useParameter } from '../../parts/navigation.js'
import { PageHead, Section } from '../../parts/page-head.js'
import { EmptyList, Problem, Skeleton } from '../../parts/page-states.js'

const SPANS = ['30', '90', '365'] as const
const REFETCH_MS = 30_000
const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** Recorded usage by day, project and model, in days of the browser's time zone. */
export default function HistoryPage() {
  const [days, setDays] = useParameter('days')
  const span = SPANS.find((each) => each === days) ?? '30'
  const request = useCall('history', { query: { days: Number(span), timezone } })
  useRefetchWhileVisible(useLive(spentMark), request.refetch, REFETCH_MS)
  return (
    <>
      <PageHead title="History" label="History">
        <Choice
          label="Period"
          options={SPANS.map((each) => ({ id: each, label: `${each} days` }))}
          chosen={span}
          onChoose={(chosen) => setDays(chosen === '30' ? '' : chosen)}
        />
      </PageHead>
      {request.problem !== null && request.data === null ? (
        <Problem problem={request.problem} retry={request.refetch} />
      ) : request.data === null ? (
        <Skeleton lines={8} />
      ) : request.data.since === null ? (
        <EmptyList id="no-history" title="Nothing recorded yet">
          <p>Baton records what sessions spend, and what compactions and handoffs save. To start:</p>
          <ShellCommand text="baton install" />
        </EmptyList>
      ) : (
        <Recorded history={request.data} since={request.data.since} />
      )}
    </>
  )
}

function Recorded({ history, since }: { history: SpendHistory; since: string }) {
  const { totals, days, projects, models } = history
  return (
    <>
      <Totals totals={totals} />
      <ByDay days={days} />
      <Section title="By project">
        <ShareTable
          rows={projects}
          head="Project"
          rowKey={(row) => row.project ?? ''}
          name={({ project }) => (project === null ? 'No project' : <span title={project}>{folderName(project)}</span>)}
          caption="Figures by project"
        />
      </Section>
      <Section title="By model">
        <ShareTable
          rows={models}
          head="Model"
          rowKey={(row) => row.model ?? ''}
          name={({ model }) => model ?? 'Not reported'}
          caption="Figures by model"
        />
      </Section>
      <p className="quiet history-note">
        Recorded since {dateText(since, '')}. Days begin at midnight in {history.timezone}.{' '}
        {totals.cost_usd === null && NO_COST}
      </p>
    </>
  )
}

const NO_COST = 'No client reported costs.'

function Totals({ totals }: { totals: SpendHistory['totals'] }) {
  const figures: [name: string, value: string, description: string][] = [
    ['Spend', moneyText(totals.cost_usd), totals.cost_usd === null ? NO_COST : 'as reported by the clients'],
    ['Sessions', groupedText(totals.sessions), countedNoun(totals.steps, 'step')],
    ['Tokens in', tokensText(inputOf(totals)), `${tokensText(totals.output_tokens)} tokens out`],
    ['Cache hits', rateText(totals.cache_hit_rate), `${tokensText(totals.cache_read_tokens)} tokens from the cache`],
    ['Compactions', groupedText(totals.compactions), countedNoun(totals.handoffs, 'handoff')],
    [
      'Tokens saved',
      totals.tokens_saved === 0 ? UNKNOWN_TEXT : tokensText(totals.tokens_saved),
      'removed from contexts',
    ],
  ]
  return (
    <dl className="totals">
      {figures.map(([name, value, description]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <strong>{value}</strong>
            <span className="totals-note">{description}</span>
          </dd>
        </div>
      ))}
    </dl>
  )
}

function ByDay({ days }: { days: SpendHistory['days'] }) {
  const [measureParameter, setMeasure] = useParameter('of')
  const usual: Measure = days.some((day) => (day.cost_usd ?? 0) > 0) ? 'cost_usd' : 'sessions'
  const measure = isMeasure(measureParameter) ? measureParameter : usual
  const { noun, format, isWhole } = MEASURES[measure]
  const bars = barsOf(days, measure)
  const each = bars.length === days.length ? 'day' : 'week'
  const most = bars.reduce((best, bar) => ((bar.value ?? 0) > (best?.value ?? 0) ? bar : best), bars[0])
  const heading = `${noun[0]!.toUpperCase()}${noun.slice(1)} by ${each}`
  return (
    <Section
      title="Over time"
      aside={
        <Choice
          label="Figure to draw"
          options={Object.entries(MEASURES).map(([id, { label }]) => ({ id, label }))}
          chosen={measure}
          onChoose={(chosen) => setMeasure(chosen === usual ? '' : chosen)}
        />
      }
    >
      <BarChart
        bars={bars}
        format={format}
        isWhole={isWhole}
        heading={heading}
        label={
          `${heading} from ${dateText(days[0]!.date)} to ${dateText(days.at(-1)!.date)}. ` +
          `Highest: ${format(most?.value ?? null)} on ${dateText(most!.from)}.`
        }
      />
      <details className="as-table">
        <summary>Show as a table</summary>
        <DataTable
          rows={[...days].reverse()}
          columns={[
            { id: 'day', head: 'Day', cell: (day) => dateText(day.date) },
            ...figureColumns<(typeof days)[number]>(),
          ]}
          rowKey={(day) => day.date}
          caption="Figures by day, newest first"
        />
      </details>
    </Section>
  )
}

/** All input tokens: uncached, written to the cache, and read from it. */
const inputOf = (figures: Figures): number =>
  figures.input_tokens + figures.cache_creation_tokens + figures.cache_read_tokens

const countText = (count: number): ReactNode => (count === 0 ? <span className="quiet">0</span> : groupedText(count))
const tokens = (count: number): ReactNode => (
  <span className={count === 0 ? 'quiet' : undefined} title={`${groupedText(count)} tokens`}>
    {tokensText(count)}
  </span>
)

/** Table columns with the figures of a day, project or model. Hidden ones are in the totals. */
function figureColumns<Row extends Figures>(): Column<Row>[] {
  return [
    { id: 'sessions', head: 'Sessions', cell: (row) => countText(row.sessions), figure: true },
    { id: 'steps', head: 'Steps', cell: (row) => countText(row.steps), figure: true },
    { id: 'in', head: 'Tokens in', cell: (row) => tokens(inputOf(row)), figure: true, spare: true },
    { id: 'out', head: 'Tokens out', cell: (row) => tokens(row.output_tokens), figure: true },
    { id: 'cache', head: 'Cache hits', cell: (row) => rateText(row.cache_hit_rate), figure: true, spare: true },
    { id: 'compactions', head: 'Compactions', cell: (row) => countText(row.compactions), figure: true, spare: true },
    { id: 'handoffs', head: 'Handoffs', cell: (row) => countText(row.handoffs), figure: true, spare: true },
    { id: 'saved', head: 'Tokens saved', cell: (row) => tokens(row.tokens_saved), figure: true },
    { id: 'cost', head: 'Spend', cell: (row) => moneyText(row.cost_usd), figure: true },
  ]
}

/** Percentage of a rate between 0 and 1, as clients report it. */
const rateText = (rate: number | null): string => percentText(rate === null ? null : rate * 100)

interface MeasureWords {
  label: string
  /** Name of the measure inside a sentence: "spend by day". */
  noun: string
  format: (value: number | null) => string
  isWhole: boolean
}

const MEASURES: Record<Measure, MeasureWords> = {
  cost_usd: { label: 'Spend', noun: 'spend', format: moneyText, isWhole: false },
  sessions: { label: 'Sessions', noun: 'sessions', format: groupedText, isWhole: true },
  steps: { label: 'Steps', noun: 'steps', format: groupedText, isWhole: true },
  output_tokens: { label: 'Tokens out', noun: 'output tokens', format: tokensText, isWhole: true },
  compactions: { label: 'Compactions', noun: 'compactions', format: groupedText, isWhole: true },
  handoffs: { label: 'Handoffs', noun: 'handoffs', format: groupedText, isWhole: true },
  tokens_saved: { label: 'Tokens saved', noun: 'tokens saved', format: tokensText, isWhole: true },
}

const isMeasure = (name: string): name is Measure => Object.hasOwn(MEASURES, name)

/** Table with a bar for each row's share of the spend, or of the steps if no spend is known. */
function ShareTable<Row extends Figures>({
  rows,
  name,
  rowKey,
  head,
  caption,
}: {
  rows: readonly Row[]
  name: (row: Row) => React.ReactNode
  rowKey: (row: Row) => string
  head: string
  caption: string
}) {
  const byCost = rows.some((row) => (row.cost_usd ?? 0) > 0)
  const weight = (row: Row): number => (byCost ? (row.cost_usd ?? 0) : row.steps)
  const all = rows.reduce((sum, row) => sum + weight(row), 0)
  const sorted = [...rows].sort((a, b) => weight(b) - weight(a) || b.sessions - a.sessions)
  const columns: Column<Row>[] = [
    { id: 'name', head, cell: (row) => <span className="share-name cell-name">{name(row)}</span> },
    {
      id: 'share',
      head: byCost ? 'Share of spend' : 'Share of steps',
      cell: (row) => (
        <span
          className="share"
          title={`${byCost ? moneyText(row.cost_usd) : countedNoun(row.steps, 'step')}, ${percent(weight(row), all)}`}
        >
          <span className="share-part" style={{ inlineSize: all === 0 ? '0%' : `${(weight(row) / all) * 100}%` }} />
        </span>
      ),
      wide: true,
      narrow: 'bare',
      spare: true,
    },
    ...figureColumns<Row>(),
  ]
  return <DataTable rows={sorted} columns={columns} rowKey={rowKey} caption={caption} />
}

const percent = (part: number, all: number): string => (all === 0 ? '0%' : `${Math.round((part / all) * 100)}%`)

const COUNTED: ReadonlySet<Event['type']> = new Set(['session_started', 'compaction_complete', 'handoff_completed'])

/** Text that changes when an event that the history counts arrives. '' before a snapshot. */
export function spentMark({ spendToday, feed }: Pick<LiveState, 'spendToday' | 'feed'>): string {
  if (spendToday === null) return ''
  const { cost_usd, input_tokens, output_tokens } = spendToday
  return [cost_usd, input_tokens, output_tokens, feed.findLast(({ type }) => COUNTED.has(type))?.id].join(' ')
}

/** Choice among a few values: radio buttons drawn as one segmented control. */
function Choice<Id extends string>({
  label,
  options,
  chosen,
  onChoose,
}: {
  label: string
  options: readonly { id: Id; label: string }[]
  chosen: Id
  onChoose: (id: Id) => void
}) {
  return (
    <fieldset className="choice">
      <legend className="unseen">{label}</legend>
      {options.map((option) => (
        <label key={option.id}>
          <input
            type="radio"
            className="unseen"
            name={label}
            value={option.id}
            checked={option.id === chosen}
            onChange={() => onChoose(option.id)}
          />
          <span className="choice-name">{option.label}</span>
        </label>
      ))}
    </fieldset>
  )
}

/** Bar chart over time. The bar under the pointer is described above the chart. */
function BarChart({
  bars,
  format,
  isWhole,
  label,
  heading,
}: {
  bars: readonly Bar[]
  format: (value: number | null) => string
  isWhole: boolean
  /** Summary of the chart for screen readers. */
  label: string
  /** Heading above the chart while the pointer is on no bar. */
  heading: string
}) {
  const [at, setAt] = useState<number | null>(null)
  const { top, lines } = axisScale(Math.max(0, ...bars.map(({ value }) => value ?? 0)), isWhole)
  const dated = new Set(barsWithDateLabel(bars))
  const bar = at === null ? undefined : bars[at]
  const point = (event: PointerEvent<HTMLDivElement>): void => {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    setAt(Math.max(0, Math.min(bars.length - 1, Math.floor(((event.clientX - left) / width) * bars.length))))
  }
  return (
    <figure className="bar-chart">
      <p className="bar-chart-heading" aria-hidden="true">
        {bar === undefined ? (
          <span className="quiet">{heading}</span>
        ) : (
          <>
            <strong>{format(bar.value)}</strong> <span className="quiet">{spanText(bar)}</span>
          </>
        )}
      </p>
      <div className="bar-chart-body" role="img" aria-label={label}>
        <div className="bar-chart-lines">
          {lines.map((line) => (
            <span key={line} className="bar-chart-line" style={{ insetBlockEnd: `${(line / top) * 100}%` }}>
              {format(line)}
            </span>
          ))}
        </div>
        <div className="bar-chart-bars" onPointerMove={point} onPointerDown={point} onPointerLeave={() => setAt(null)}>
          {bars.map(({ from, value }, place) => (
            <span key={from} className="bar-chart-slot" data-at={place === at || undefined}>
              <span
                className="bar-chart-bar"
                data-some={(value ?? 0) > 0 || undefined}
                style={{ blockSize: `${Math.min(100, ((value ?? 0) / top) * 100)}%` }}
              />
            </span>
          ))}
        </div>
        <div className="bar-chart-dates">
          {bars.map(({ from }, place) =>
            dated.has(place) ? (
              <span
                key={from}
                className="bar-chart-date"
                data-last={place > bars.length * 0.96 || undefined}
                style={{ insetInlineStart: `${((place + 0.5) / bars.length) * 100}%` }}
              >
                {dateText(from)}
              </span>
            ) : null,
          )}
        </div>
      </div>
    </figure>
  )
}

type Figures = SpendHistory['totals']
export type HistoryDay = SpendHistory['days'][number]

interface Bar {
  /** Date of the day, as `2026-11-16`, or of the first day of the week. */
  from: string
  to: string
  /** Null when the value is unknown. */
  value: number | null
}

type Measure = 'cost_usd' | 'sessions' | 'steps' | 'output_tokens' | 'compactions' | 'handoffs' | 'tokens_saved'

/** Returns a bar per day, or per week beyond a hundred days. The last week ends on the last day. */
export function barsOf(days: readonly HistoryDay[], measure: Measure): Bar[] {
  const size = days.length > 100 ? 7 : 1
  const bars: Bar[] = []
  for (let end = days.length; end > 0; end -= size) {
    const some = days.slice(Math.max(0, end - size), end)
    bars.unshift({ from: some[0]!.date, to: some.at(-1)!.date, value: total(some.map((day) => day[measure])) })
  }
  return bars
}

/** Sum of the known values. Null when no value is known. */
function total(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((all, one) => all + one, 0)
}

/** Returns a round maximum just above the greatest value, and at most four grid lines up to it. */
export function axisScale(greatest: number, isWhole: boolean): { top: number; lines: number[] } {
  if (greatest <= 0) return { top: 1, lines: [] }
  const rough = greatest / 3
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((each) => each >= rough)!
  const whole = isWhole ? Math.max(1, Math.ceil(step)) : step
  const top = Math.ceil(greatest / whole - 1e-9) * whole
  const lines = Array.from({ length: Math.round(top / whole) }, (_, n) => (n + 1) * whole)
  return { top, lines }
}

/**
 * Returns the positions of bars with a date label.
 * From three months on, these are the first bars of months; above six, of every third month.
 * In a shorter time, about four evenly spaced bars have labels.
 */
export function barsWithDateLabel(bars: readonly Bar[]): number[] {
  const months = bars.flatMap(({ from }, at) =>
    at > 0 && from.slice(0, 7) !== bars[at - 1]!.from.slice(0, 7) ? [at] : [],
  )
  if (months.length >= 3) return months.length > 6 ? months.filter((_, n) => n % 3 === 1) : months
  const step = Math.max(1, Math.round(bars.length / 4))
  return bars.map((_, at) => at).filter((at) => (bars.length - 1 - at) % step === 0)
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** Short date as `16 Nov`, with the year if it differs from `year`. */
export function dateText(date: string, year?: string): string {
  const [y, month, day] = date.split('-')
  return `${Number(day)} ${MONTHS[Number(month) - 1]}${year !== undefined && year !== y ? ` ${y}` : ''}`
}

const spanText = ({ from, to }: Pick<Bar, 'from' | 'to'>): string =>
  from === to ? dateText(from) : `${dateText(from)} – ${dateText(to)}`
