import type { LossShown } from '../../../../src/contract/api/sessions.js'
import { plural } from '../../format.js'
import { Link } from '../../navigation.js'
import { Withheld } from '../../parts/faces.js'
import { archiveHref } from '../../route.js'

/** What one compaction dropped: by kind, and the facts themselves, most needed first. */
export function LossReport({ loss }: { loss: LossShown }) {
  const lost = loss.facts - loss.facts_kept
  const isWithheld = loss.withheld?.includes('lost') === true && lost > 0
  return (
    <section className="loss" aria-label="Loss report">
      <h3>
        {lost === 0 ? 'Nothing lost' : `${plural(lost, 'fact')} lost`}
        {loss.put_back > 0 && <span className="good"> {loss.put_back} put back</span>}
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
      {isWithheld ? (
        <Withheld what="What was lost" />
      ) : (
        <ul className="loss-facts">
          {loss.lost.map((fact) => (
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
      )}
    </section>
  )
}
