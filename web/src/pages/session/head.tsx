import type { SessionDetail } from '../../../../src/contract/api/sessions.js'
import { folderName, shortId } from '../../format.js'
import { Link } from '../../navigation.js'
import { Id } from '../../parts/copy-button.js'
import { LevelMark } from '../../parts/level-mark.js'
import { ModelName } from '../../parts/model-name.js'
import { PageHead } from '../../parts/page-head.js'
import { StateBadge } from '../../parts/state-badge.js'
import { jobHref, sessionHref } from '../../route.js'
import { seatName } from '../../seats/seats.js'
import { Actions } from './actions.js'
import { HandoffStrip } from './handoff-strip.js'

export function Head({ session, again }: { session: SessionDetail; again: () => void }) {
  const name = seatName(session)
  const folder = session.project ?? session.cwd
  const next = session.chain[session.chain.findIndex(({ session_id: id }) => id === session.session_id) + 1]
  return (
    <>
      <PageHead
        label={name}
        title={
          <>
            <span>{name}</span>
            <span className="session-signs">
              <StateBadge state={session.state} />
              <LevelMark level={session.level} percent={session.compaction_percent} />
              {!session.enabled && <span className="sign">silenced</span>}
            </span>
          </>
        }
      >
        <Actions session={session} again={again} />
      </PageHead>
      <ul className="session-about">
        {folder !== null && (
          <li className="mono cut" title={folder}>
            {session.seat_name === null ? folder : folderName(folder)}
          </li>
        )}
        {session.branch !== null && <li className="mono cut">{session.branch}</li>}
        <li>
          <ModelName model={session.model} />
        </li>
        {session.job_id !== null && (
          <li>
            <Link href={jobHref(session.job_id)}>job {shortId(session.job_id)}</Link>
          </li>
        )}
        <li>
          <Id id={session.session_id} label="session id" short={shortId(session.session_id)} />
        </li>
      </ul>
      {session.config_trouble !== null && <p className="strip bad">{session.config_trouble}</p>}
      {next !== undefined && (
        <p className="strip">
          The seat has gone on in another session: <Link href={sessionHref(next.session_id)}>{shortId(next.session_id)}</Link>
        </p>
      )}
      {session.handoff !== null && <HandoffStrip session={session} handoff={session.handoff} again={again} />}
    </>
  )
}
