import type { SessionDetail } from '../../../../src/contract/api/sessions.js'
import { bytesText, percentText, plural, shortId, tokensText } from '../../format.js'
import { Link } from '../../navigation.js'
import { Command, Id } from '../../parts/copy-button.js'
import { FactsList } from '../../parts/facts-list.js'
import { Gauge } from '../../parts/gauge.js'
import { Section } from '../../parts/page-head.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { StateBadge } from '../../parts/state-badge.js'
import { archiveHref, briefHref, sessionHref } from '../../route.js'
import { TRIGGER } from '../archive/words.js'

/** What lies around a session: its subagents, chain, briefs and archives, and the small print. */
export function Aside({ session }: { session: SessionDetail }) {
  return (
    <>
      {session.subagents.length > 0 && <Subagents session={session} />}
      {session.briefs.length > 0 && <Briefs session={session} />}
      {session.chain.length > 1 && <Chain session={session} />}
      {session.archives.length > 0 && <Archives session={session} />}
      <Details session={session} />
    </>
  )
}

function Subagents({ session }: { session: SessionDetail }) {
  return (
    <Section title="Subagents">
      <ul className="side-list">
        {session.subagents.map((subagent) => (
          <li key={subagent.subagent_id}>
            <p className="side-line">
              <span className="cut">
                <strong>{subagent.type ?? 'subagent'}</strong> <span className="quiet">{subagent.description}</span>
              </span>
              <span className="nowrap">
                {percentText(subagent.used_percent)} <span className="quiet">of window</span>
              </span>
            </p>
            <Gauge
              size="slim"
              of="its window"
              label={`Context of subagent ${subagent.type ?? shortId(subagent.subagent_id)}`}
              figures={{
                used_tokens: subagent.used_tokens,
                compaction_tokens: subagent.window_tokens,
                compaction_percent: subagent.used_percent,
              }}
            />
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Briefs({ session }: { session: SessionDetail }) {
  const newest = [...session.briefs].sort((a, b) => b.sequence - a.sequence)
  return (
    <Section title="Briefs">
      <ul className="side-list">
        {newest.map((brief) => (
          <li key={brief.brief_id} className="side-line">
            <span>
              <Link href={briefHref(brief.brief_id)} data-item="">
                Brief {brief.sequence}
              </Link>{' '}
              <span className="quiet">
                by {brief.author}
                {brief.coverage !== null && `, ${percentText(brief.coverage.score * 100)} of the facts`}
              </span>
            </span>
            <StateBadge state={brief.status} />
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Chain({ session }: { session: SessionDetail }) {
  return (
    <Section title="Chain">
      <ol className="side-list chain">
        {session.chain.map((link) => (
          <li
            key={link.session_id}
            className="side-line"
            aria-current={link.session_id === session.session_id ? 'true' : undefined}
          >
            {link.session_id === session.session_id ? (
              <strong className="mono">{shortId(link.session_id)}</strong>
            ) : (
              <Link className="mono" href={sessionHref(link.session_id)} data-item="">
                {shortId(link.session_id)}
              </Link>
            )}
            <span className="quiet">
              {tokensText(link.used_tokens)}
              {link.compactions > 0 && `, ${plural(link.compactions, 'compaction')}`}
            </span>
            <span className="quiet">
              <RelativeTime at={link.started_at} />
            </span>
          </li>
        ))}
      </ol>
    </Section>
  )
}

function Archives({ session }: { session: SessionDetail }) {
  const newest = [...session.archives].sort((a, b) => (a.created_at < b.created_at ? 1 : -1))
  return (
    <Section title="Archives">
      <ul className="side-list">
        {newest.map((archive) => (
          <li key={archive.archive_id} className="side-line">
            <Link href={archiveHref(archive.archive_id)} data-item="">
              {TRIGGER[archive.trigger]}
            </Link>
            <span className="quiet">{archive.status === 'kept' ? bytesText(archive.bytes) : archive.status}</span>
            <span className="quiet">
              <RelativeTime at={archive.created_at} />
            </span>
          </li>
        ))}
      </ul>
    </Section>
  )
}

const COMPACTIONS: Readonly<Record<NonNullable<SessionDetail['compaction_mode']>, string>> = {
  proactive: 'before the window is full',
  reactive: 'when the API refuses',
  off: 'never: it stops when it is full',
}

function Details({ session }: { session: SessionDetail }) {
  return (
    <Section title="Details">
      <FactsList
        facts={[
          ['started', <RelativeTime key="started" at={session.started_at} />],
          ['ended', session.ended_at !== null && <RelativeTime key="ended" at={session.ended_at} />],
          ['client', `${session.agent} ${session.agent_version ?? ''}`],
          ['window', `${tokensText(session.window_tokens)} tokens`],
          ['compaction', session.compaction_mode === null ? null : COMPACTIONS[session.compaction_mode]],
          ['its point', session.limits_reason],
          ['source', session.source !== null && `${session.source}${session.exact ? '' : ', derived'}`],
          ['seat', <Id key="seat" id={session.seat_id} label="seat id" short={shortId(session.seat_id)} />],
          ...limits(session),
        ]}
      />
      <p className="details-command">
        <Command text={`baton show ${shortId(session.session_id)}`} />
      </p>
    </Section>
  )
}

function limits({ plan_limits: told }: SessionDetail): [string, string][] {
  return (told ?? []).map((limit) => {
    const used = (limit as { usedPercent?: unknown }).usedPercent
    return [`limit ${limit.name}`, typeof used === 'number' ? `${percentText(used)} used` : 'told'] as [string, string]
  })
}
