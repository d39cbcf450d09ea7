import { useId, useState } from 'react'
import type { Event } from '../../../../src/contract/event.js'
import { durationText, percentText, tokensText } from '../../format.js'
import { Withheld } from '../../parts/faces.js'
import { Spinner } from '../../parts/spinner.js'
import type { CompactionItem } from '../../timeline/items.js'
import { LossReport } from './loss-report.js'

/** A compaction: a spinner while it goes on; then what it made of the conversation, with its loss beside it. */
export function CompactionEntry({ item }: { item: CompactionItem }) {
  if (item.complete === null) return <UnderWay start={item.start} />
  return <Complete item={item} complete={item.complete} />
}

function UnderWay({ start }: { start: Event | null }) {
  const used = start?.data.contextUsedPercent
  return (
    <p className="compaction-running" role="status">
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
  thrashing: 'Compaction gave up',
  unknown: 'Compaction ended unseen',
}

function Complete({ item, complete }: { item: CompactionItem; complete: Event }) {
  const [open, setOpen] = useState(false)
  const panel = useId()
  const { data } = complete
  const figure = (name: string): number | null => (typeof data[name] === 'number' ? (data[name] as number) : null)
  const [before, after, saved] = [figure('tokensBefore'), figure('tokensAfter'), figure('tokensSaved')]
  const happened = data.outcome === 'completed'
  const isWithheld = Array.isArray(data.withheld) && data.withheld.includes('summary')
  return (
    <div className="compaction" data-outcome={String(data.outcome)}>
      <button type="button" className="compaction-head" aria-expanded={open} aria-controls={panel} onClick={() => setOpen(!open)}>
        <svg viewBox="0 0 10 10" width="10" height="10" aria-hidden="true" className="chevron" data-open={open || undefined}>
          <path d="M3 1 7 5 3 9" fill="none" stroke="currentColor" strokeWidth="1.5" />
        </svg>
        <strong>{OUTCOMES[String(data.outcome)] ?? 'Compacted'}</strong>
        {before !== null && (
          <span className="nowrap">
            {tokensText(before)} → {tokensText(after)}
          </span>
        )}
        <span className="quiet">
          {[
            saved === null ? null : `${tokensText(saved)} saved`,
            figure('durationMs') === null ? null : durationText(figure('durationMs')),
            data.overflow === true ? 'after a refusal' : data.triggerReason === 'manual' ? 'by hand' : null,
            item.loss === null ? null : `${item.loss.facts_kept} of ${item.loss.facts} facts carried`,
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
              // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and has to be reached to be scrolled by keyboard
              <div className="compaction-summary words" tabIndex={0} role="region" aria-label="Summary text">
                {data.summary}
              </div>
            ) : isWithheld ? (
              <Withheld what="The summary" />
            ) : (
              <p className="quiet">{happened ? 'The client told no summary.' : 'Nothing was summarised.'}</p>
            )}
          </section>
          {item.loss !== null && <LossReport loss={item.loss} />}
        </div>
      )}
    </div>
  )
}
