import type { BriefDetail } from '../../../../src/contract/api/briefs.js'
import { groupedText, shortId } from '../../format.js'
import { Link } from '../../navigation.js'
import { Id } from '../../parts/copy-button.js'
import { FactsList } from '../../parts/facts-list.js'
import { Gauge, GaugeNumber } from '../../parts/gauge.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { StateBadge } from '../../parts/state-badge.js'
import { briefHref, sessionHref } from '../../route.js'
import { AUTHORS } from './brief-facts.js'

const SIGNATURES: Readonly<Record<string, string>> = {
  genuine: 'as Baton kept it',
  tampered: 'not the text Baton kept',
  unsigned: 'not signed',
  missing: 'its file is gone',
}

/** Who wrote it, out of what, and what became of it. */
export function BriefUse({ brief }: { brief: BriefDetail }) {
  const session = (id: string) => (
    <Link href={sessionHref(id)} title={id}>
      <code>{shortId(id)}</code>
    </Link>
  )
  return (
    <FactsList
      facts={[
        [
          'Used',
          brief.used_at !== null && (
            <>
              <RelativeTime at={brief.used_at} />
              {brief.used_by_session_id !== null && <> by session {session(brief.used_by_session_id)}</>}
            </>
          ),
        ],
        ['Handoff', brief.handoff_state !== null && <StateBadge state={brief.handoff_state} tells="Where the handoff stands" />],
        ['Written by', AUTHORS[brief.author]],
        ['Reason', brief.reason],
        ['Session', session(brief.session_id)],
        [
          'Brief before',
          brief.parent_brief_id !== null && (
            <Link href={briefHref(brief.parent_brief_id)}>
              {brief.parent === null ? brief.parent_brief_id : `brief ${brief.parent.sequence}`}
            </Link>
          ),
        ],
        [
          'Session then',
          brief.used_tokens !== null && (
            <span className="brief-gauge" title={`${groupedText(brief.used_tokens)} tokens`}>
              <Gauge figures={brief} size="slim" label="Context used when it was taken" />
              <GaugeNumber figures={brief} />
            </span>
          ),
        ],
        ['Project', brief.project !== null && <Id id={brief.project} label="project" />],
        ['Branch', brief.branch !== null && <Id id={brief.branch} label="branch" />],
        ['Commit', brief.commit !== null && <Id id={brief.commit} label="commit" short={brief.commit.slice(0, 10)} />],
        ['Model', brief.model],
        ['Signature', SIGNATURES[brief.verdict] ?? brief.verdict],
        ['Brief id', <Id key="id" id={brief.brief_id} label="brief id" />],
        ['File', <Id key="file" id={brief.path} label="path of its file" />],
      ]}
    />
  )
}
