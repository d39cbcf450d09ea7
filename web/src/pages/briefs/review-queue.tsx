import type { BriefRow } from '../../../../src/contract/api/briefs.js'
import { folderName } from '../../format.js'
import { Link } from '../../navigation.js'
import { Countdown } from '../../parts/countdown.js'
import { briefHref } from '../../route.js'
import { AUTHORS, briefTitle } from './brief-facts.js'
import { DecideButtons } from './decide-buttons.js'
import { Score } from './score.js'

/** Briefs that wait for a person, the most pressing first. */
export function ReviewQueue({ briefs, done }: { briefs: readonly BriefRow[]; done: () => void }) {
  return (
    <ul className="review">
      {briefs.map((brief) => (
        <li key={brief.brief_id}>
          <div className="review-what">
            <Link href={briefHref(brief.brief_id)} data-item="">
              {briefTitle(brief)}
            </Link>
            <p className="quiet">
              {[`by ${AUTHORS[brief.author]}`, brief.project && folderName(brief.project), brief.branch, brief.reason]
                .filter(Boolean)
                .join(' · ')}
            </p>
          </div>
          <p className="review-score">
            <span className="quiet">carries</span> <Score score={brief.coverage?.score ?? null} />
          </p>
          <p className="review-until">
            <Until brief={brief} />
          </p>
          <DecideButtons brief={brief} done={done} look />
        </li>
      ))}
    </ul>
  )
}

export function Until({ brief }: { brief: BriefRow }) {
  if (brief.review_until === null) return <span className="quiet">waits for a yes</span>
  return (
    <>
      <span className="quiet">used in</span> <Countdown until={brief.review_until} />
    </>
  )
}
