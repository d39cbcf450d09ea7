import { Suspense, useEffect, useId, useMemo, useRef, useState } from 'react'
import type { LossView, SessionDetail } from '../../../../src/contract/api/sessions.js'
import type { Event } from '../../../../src/contract/records/event.js'
import { useCall } from '../../api/use-call.js'
import {
  clockText,
  countedNoun,
  dayText,
  durationText,
  exactTimeText,
  groupedText,
  percentText,
  tokensText,
} from '../../parts/format.js'
import { lazyPart } from '../../parts/lazy-part.js'
import { LevelMark } from '../../parts/level-mark.js'
import { Link, useParameter } from '../../parts/navigation.js'
import { Section } from '../../parts/page-head.js'
import { EmptyList, Problem, Skeleton } from '../../parts/page-states.js'
import { archiveHref } from '../../parts/route.js'
import { Spinner } from '../../parts/spinner.js'
import type { CurveProps } from './curve.js'
import { curveData, curveMarks, type LivePoint } from './curve-data.js'
import type { SessionEvents } from './session-data.js'
import { type CompactionItem, eventText, type TimelineItem, timelineItems } from './timeline-items.js'

const PAGE_SIZE = 100

/** List of a session's events, newest first. */
export function Timeline({ session, history }: { session: SessionDetail; history: SessionEvents }) {
  const { events, problem, loading, refetch } = history
  const [everything, setEverything] = useParameter('events')
  const [most, setMost] = useState(PAGE_SIZE)
  const all = everything === 'all'
  const items = useMemo(() => timelineItems(events, session.losses, { all }), [events, session.losses, all])
  const shown = items.slice(0, most)
  return (
    <Section
      title="Timeline"
      aside={
        <label className="check">
          <input type="checkbox" checked={all} onChange={() => setEverything(all ? '' : 'all')} /> show all events
        </label>
      }
    >
      {problem !== null && <Problem problem={problem} retry={refetch} />}
      {loading && <Skeleton lines={6} />}
      {!loading && problem === null && items.length === 0 && <p className="quiet">Nothing has happened yet.</p>}
      <ol className="timeline">
        {shown.map((item, n) => (
          <Entry key={item.key} item={item} day={dayOf(shown, n)} />
        ))}
      </ol>
      {items.length > most && (
        <button type="button" className="button" onClick={() => setMost(most + 5 * PAGE_SIZE)}>
          Show more ({groupedText(items.length - most)})
        </button>
      )}
    </Section>
  )
}

function Entry({ item, day }: { item: TimelineItem; day: string | null }) {
  return (
    <>
      {day !== null && <li className="timeline-day">{day}</li>}
      <li
        className="timeline-entry"
        data-kind={item.kind}
        data-type={item.kind === 'compaction' ? undefined : item.event.type}
      >
        <time dateTime={item.at} title={exactTimeText(item.at)}>
          {clockText(item.at)}
        </time>
        {item.kind === 'warning' ? (
          <ContextWarning event={item.event} />
        ) : item.kind === 'compaction' ? (
          <CompactionEntry item={item} />
        ) : (
          <Plain item={item} />
        )}
      </li>
    </>
  )
}

function Plain({ item }: { item: Extract<TimelineItem, { kind: 'event' }> }) {
  const { title, detail, tone } = eventText(item.event)
  return (
    <p className="timeline-plain" data-tone={tone}>
      <span>{title}</span> <span className="quiet">{detail}</span>
    </p>
  )
}

/** Date above the first entry of a day. Null for other entries, and if all are of one day. */
function dayOf(items: readonly TimelineItem[], n: number): string | null {
  const day = dayText(new Date(items[n]!.at))
  if (n > 0 && dayText(new Date(items[n - 1]!.at)) === day) return null
  return n === 0 && dayText(new Date()) === day ? null : day
}

/** Entry of a compaction: a spinner while it runs, then its summary and its loss. */
function CompactionEntry({ item }: { item: CompactionItem }) {
  if (item.complete === null) return <CompactionRunning start={item.start} />
  return <CompactionDone item={item} complete={item.complete} />
}

function CompactionRunning({ start }: { start: Event | null }) {
  const used = start?.data.contextUsedPercent
  return (
    <p className="compaction-running" role="status" data-used={typeof used === 'number' ? Math.round(used) : undefined}>
      <Spinner />
      <span>
        {start?.data.triggerReason === 'manual' ? 'Compaction' : 'Automatic compaction'} under way
        {typeof used === 'number' && ` (${percentText(used)} context used)`}, please wait
      </span>
    </p>
  )
}

const OUTCOMES: Readonly<Record<string, string>> = {
  completed: 'Compacted',
  failed: 'Compaction failed',
  blocked: 'Compaction blocked',
  thrashing: 'Compaction failed repeatedly',
  unknown: 'Compaction ended, outcome unknown',
}

function CompactionDone({ item, complete }: { item: CompactionItem; complete: Event }) {
  const [open, setOpen] = useState(false)
  const panel = useId()
  const { data } = complete
  const figure = (name: string): number | null => (typeof data[name] === 'number' ? (data[name] as number) : null)
  const [before, after, saved] = [figure('tokensBefore'), figure('tokensAfter'), figure('tokensSaved')]
  const isCompleted = data.outcome === 'completed'
  return (
    <div className="compaction" data-outcome={String(data.outcome)}>
      <button
        type="button"
        className="compaction-head"
        aria-expanded={open}
        aria-controls={panel}
        onClick={() => setOpen(!open)}
      >
        <svg
          viewBox="0 0 10 10"
          width="10"
          height="10"
          aria-hidden="true"
          className="chevron"
          data-open={open || undefined}
        >
          <path d="M3 1 7 5 3 9" fill="none" stroke="currentColor" strokeWidth="1.5" />
        </svg>
        <strong>{OUTCOMES[String(data.outcome)] ?? 'Compacted'}</strong>
        {before !== null && (
          <span className="nowrap">
            {tokensText(before)} {after === null ? 'tokens' : `→ ${tokensText(after)} tokens`}
          </span>
        )}
        <span className="quiet">
          {[
            saved === null ? null : `${tokensText(saved)} saved`,
            figure('durationMs') === null ? null : durationText(figure('durationMs')),
            data.idle === true
              ? 'while idle'
              : data.overflow === true
                ? 'after the API refused a request'
                : data.triggerReason === 'manual'
                  ? 'requested by the user'
                  : null,
            item.loss === null ? null : `${item.loss.facts_kept} of ${item.loss.facts} facts kept`,
          ]
            .filter((part) => part !== null)
            .join(' · ')}
        </span>
      </button>
      {open && (
        <div id={panel} className="compaction-body" data-beside={item.loss !== null || undefined}>
          <section aria-label="Summary">
            <h3>Summary</h3>
            {typeof data.summary === 'string' ? (
              // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable element must be reachable by keyboard
              <div className="compaction-summary words" tabIndex={0} role="region" aria-label="Summary text">
                {data.summary}
              </div>
            ) : (
              <p className="quiet">{isCompleted ? 'The client reported no summary.' : 'Nothing was summarised.'}</p>
            )}
          </section>
          {item.loss !== null && <LossReport loss={item.loss} />}
        </div>
      )}
    </div>
  )
}

/** Entry of a warning at a crossed level: how much is left before compaction. */
function ContextWarning({ event: { data } }: { event: Event }) {
  const number = (value: unknown): number | null => (typeof value === 'number' ? value : null)
  const used = number(data.contextUsedPercent)
  const [input, cache, window] = [data.inputTokens, data.cacheTokens, data.contextWindow].map(number)
  const sizes = `${groupedText(input)} input + ${groupedText(cache)} cache tokens, window ${groupedText(window)}`
  return (
    <p className="timeline-warning" title={sizes}>
      <LevelMark level={typeof data.level === 'string' ? data.level : 'warning'} percent={used} />
      <span>{percentText(number(data.contextRemainingPercent))} context remaining before compaction</span>
    </p>
  )
}

/** Number of lost facts shown until the user asks for all. */
const SHOWN_FACTS = 8

/** Facts that one compaction dropped, counted by kind and listed by importance. */
function LossReport({ loss }: { loss: LossView }) {
  const [all, setAll] = useState(loss.lost.length <= SHOWN_FACTS + 2)
  const lost = loss.facts - loss.facts_kept
  return (
    <section className="loss" aria-label="Loss report">
      <h3>
        {lost === 0 ? 'Nothing lost' : `${countedNoun(lost, 'fact')} lost`}
        {loss.put_back > 0 && <span className="good">, {loss.put_back} put back</span>}
      </h3>
      <ul className="loss-kinds">
        {Object.entries(loss.by_kind).map(([kind, { total, kept }]) => (
          <li key={kind} data-lost={kept < total || undefined}>
            <span>{kind}</span>
            <span className="loss-bar" aria-hidden="true">
              <i style={{ inlineSize: `${total === 0 ? 100 : (kept / total) * 100}%` }} />
            </span>
            <span>
              {kept} of {total}
            </span>
          </li>
        ))}
      </ul>
      <ul className="loss-facts">
        {loss.lost.slice(0, all ? loss.lost.length : SHOWN_FACTS).map((fact) => (
          <li key={`${fact.kind} ${fact.line} ${fact.text}`}>
            <span className="quiet">
              {fact.kind}
              {fact.state !== null && `, ${fact.state}`}
            </span>
            <span className="words">{fact.text}</span>
            {loss.archive_id !== null && <Link href={archiveHref(loss.archive_id, fact.line)}>line {fact.line}</Link>}
          </li>
        ))}
      </ul>
      {!all && (
        <button type="button" className="button" onClick={() => setAll(true)}>
          Show {loss.lost.length - SHOWN_FACTS} more
        </button>
      )}
    </section>
  )
}

// Load the chart's code while the readings are fetched: both take time.
const curve = lazyPart<CurveProps>(() => import('./curve.js'))
curve.fetch().catch(() => {})

interface ContextCurveProps {
  session: SessionDetail
  /** True when the session is fetched, so that the start of its cycle is known. */
  whole: boolean
  events: readonly Event[]
}

export function ContextCurve({ session, whole, events }: ContextCurveProps) {
  const {
    data: columns,
    problem,
    loading,
    refetch,
  } = useCall('curve', { id: session.session_id, query: { limit: 100_000 } })
  const live = useLiveReadings(session)
  const data = useMemo(() => curveData(columns, live), [columns, live])
  const marks = useMemo(() => curveMarks(events), [events])
  const from = Date.parse(session.cycle_started_at) / 1_000
  return (
    <Section title="Context over time">
      <div className="curve-area" data-empty={(!loading && data[0].length === 0) || undefined}>
        {problem !== null && columns === null ? (
          <Problem problem={problem} retry={refetch} />
        ) : loading ? (
          <Skeleton lines={4} label="Loading the curve" />
        ) : data[0].length === 0 ? (
          <EmptyList id="no-readings" title="Not measured yet">
            <p>The curve starts with the first answer of the model.</p>
          </EmptyList>
        ) : (
          <Suspense fallback={<Skeleton lines={4} />}>
            <curve.Part
              data={data}
              marks={marks}
              levels={session.levels}
              cycleFrom={whole && session.cycle > 1 ? from : null}
              label={curveLabel(data[0].length, session.compaction_percent)}
            />
          </Suspense>
        )}
      </div>
    </Section>
  )
}

/** Description of the chart for screen readers. */
const curveLabel = (readings: number, percent: number | null): string =>
  `Context used over time: ${countedNoun(readings, 'reading')}, now ${percentText(percent)} of the way to compaction`

/** Readings that arrived while the page was open, collected from the newest one in each row. */
function useLiveReadings(session: SessionDetail): readonly LivePoint[] {
  const { updated_at: at, used_tokens: used, cycle, compaction_tokens: point } = session
  const [live, setLive] = useState<readonly LivePoint[]>([])
  const last = useRef(0)
  useEffect(() => {
    const time = at === null ? 0 : Date.parse(at)
    if (used === null || time <= last.current) return
    last.current = time
    setLive((before) => [...before, { at: time, used, cycle, point }])
  }, [at, used, cycle, point])
  return live
}
