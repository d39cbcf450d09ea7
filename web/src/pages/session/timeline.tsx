import { useMemo, useState } from 'react'
import type { SessionDetail } from '../../../../src/contract/api/sessions.js'
import { clockText, dayText, exactText, groupedText } from '../../format.js'
import { useParameter } from '../../navigation.js'
import { Problem, Skeleton } from '../../parts/faces.js'
import { Section } from '../../parts/page-head.js'
import { eventText } from '../../timeline/event-text.js'
import { type Item, itemsOf } from '../../timeline/items.js'
import { CompactionEntry } from './compaction-entry.js'
import { ContextWarning } from './context-warning.js'
import type { Happened } from './use-events.js'

const PAGE = 100

/** What happened, newest first. */
export function Timeline({ session, happened }: { session: SessionDetail; happened: Happened }) {
  const { events, problem, loading, again } = happened
  const [everything, setEverything] = useParameter('events')
  const [most, setMost] = useState(PAGE)
  const all = everything === 'all'
  const items = useMemo(() => itemsOf(events, session.losses, { all }), [events, session.losses, all])
  const shown = items.slice(0, most)
  return (
    <Section
      title="Timeline"
      aside={
        <label className="check">
          <input type="checkbox" checked={all} onChange={() => setEverything(all ? '' : 'all')} /> everything
        </label>
      }
    >
      {problem !== null && <Problem problem={problem} again={again} />}
      {loading && <Skeleton lines={6} />}
      {!loading && problem === null && items.length === 0 && <p className="quiet">Nothing has happened yet.</p>}
      <ol className="timeline">
        {shown.map((item, n) => (
          <Entry key={item.key} item={item} day={dayOf(shown, n)} />
        ))}
      </ol>
      {items.length > most && (
        <button type="button" className="button" onClick={() => setMost(most + 5 * PAGE)}>
          Show more ({groupedText(items.length - most)})
        </button>
      )}
    </Section>
  )
}

function Entry({ item, day }: { item: Item; day: string | null }) {
  return (
    <>
      {day !== null && <li className="timeline-day">{day}</li>}
      <li className="timeline-entry" data-kind={item.kind}>
        <time dateTime={item.at} title={exactText(item.at)}>
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

function Plain({ item }: { item: Extract<Item, { kind: 'event' }> }) {
  const { title, detail, tone } = eventText(item.event)
  return (
    <p className="timeline-plain" data-tone={tone}>
      <span>{title}</span> <span className="quiet">{detail}</span>
    </p>
  )
}

/** Above the first entry of a day, if there is more than one. */
function dayOf(items: readonly Item[], n: number): string | null {
  const day = dayText(new Date(items[n]!.at))
  if (n > 0 && dayText(new Date(items[n - 1]!.at)) === day) return null
  return n === 0 && dayText(new Date()) === day ? null : day
}
