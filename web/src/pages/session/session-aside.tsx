import { type FormEvent, type KeyboardEvent, useRef, useState } from 'react'
import type { MessageView } from '../../../../src/contract/api/messages.js'
import type { SessionDetail } from '../../../../src/contract/api/sessions.js'
import type { Event } from '../../../../src/contract/records/event.js'
import { callApi } from '../../api/call-api.js'
import { useAction } from '../../api/use-act.js'
import { useCall } from '../../api/use-call.js'
import { useRefetchOnChange } from '../../api/use-refetch.js'
import { CopyableId, ShellCommand } from '../../parts/copy-button.js'
import { DELIVERY_MODES } from '../../parts/delivery-modes.js'
import { FactsList } from '../../parts/facts-list.js'
import { bytesText, countedNoun, percentText, shortId, shortSeatId, tokensText } from '../../parts/format.js'
import { SubagentGauge } from '../../parts/gauge.js'
import { Link } from '../../parts/navigation.js'
import { Section } from '../../parts/page-head.js'
import { Problem, Skeleton } from '../../parts/page-states.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { archiveHref, briefHref, sessionHref } from '../../parts/route.js'
import { StateBadge } from '../../parts/state-badge.js'
import { showToast } from '../../parts/toast.js'
import { TRIGGER_TEXTS } from '../archive/archive-labels.js'
import { AUTHORS } from '../briefs/brief-facts.js'
import { BriefStatus } from '../briefs/brief-status.js'
import { useLastEventId } from './session-data.js'

/** Sidebar of a session: subagents, briefs, sessions of the seat, archives and details. */
export function SessionAside({ session }: { session: SessionDetail }) {
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
                {percentText(subagent.used_percent)} <span className="quiet">of its window</span>
              </span>
            </p>
            <SubagentGauge subagent={subagent} />
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
                by {AUTHORS[brief.author]}
                {brief.coverage !== null && `, covers ${percentText(brief.coverage.score * 100)}`}
              </span>
            </span>
            <BriefStatus status={brief.status} />
          </li>
        ))}
      </ul>
    </Section>
  )
}

function Chain({ session }: { session: SessionDetail }) {
  return (
    <Section title="Sessions of this seat">
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
              {tokensText(link.used_tokens)} tokens
              {link.compactions > 0 && `, ${countedNoun(link.compactions, 'compaction')}`}
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
    <Section title="Kept transcripts">
      <ul className="side-list">
        {newest.map((archive) => (
          <li key={archive.archive_id} className="side-line">
            <Link href={archiveHref(archive.archive_id)} data-item="">
              {TRIGGER_TEXTS[archive.trigger]}
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
  proactive: 'shortly before the window is full',
  reactive: 'when the API refuses a request',
  off: 'never: the session stops when it is full',
}

const SOURCES: Readonly<Record<NonNullable<SessionDetail['source']>, string>> = {
  mod: 'plugin module',
  query: 'context query',
  'status-line': 'status line',
  transcript: 'transcript',
  sdk: 'agent SDK',
  monitor: 'another program',
}

function Details({ session }: { session: SessionDetail }) {
  return (
    <Section title="Details">
      <FactsList
        facts={[
          ['started', <RelativeTime key="started" at={session.started_at} />],
          ['ended', session.ended_at !== null && <RelativeTime key="ended" at={session.ended_at} />],
          ['client', `${session.agent} ${session.agent_version ?? ''}`],
          ['context window', `${tokensText(session.window_tokens)} tokens`],
          ['compacts', session.compaction_mode === null ? null : COMPACTIONS[session.compaction_mode]],
          ['limits from', session.limits_reason],
          ['measured by', session.source !== null && SOURCES[session.source]],
          ['seat', <CopyableId key="seat" id={session.seat_id} label="seat id" short={shortSeatId(session.seat_id)} />],
          ...planLimits(session),
        ]}
      />
      <p className="details-command">
        <ShellCommand text={`baton show ${shortId(session.session_id)}`} />
      </p>
    </Section>
  )
}

function planLimits({ plan_limits: limits }: SessionDetail): [string, string][] {
  return (limits ?? []).map((limit) => {
    const used = (limit as { usedPercent?: unknown }).usedPercent
    return [`limit ${limit.name}`, typeof used === 'number' ? `${percentText(used)} used` : 'reported'] as [
      string,
      string,
    ]
  })
}

const MESSAGE_EVENTS: ReadonlySet<Event['type']> = new Set(['message_queued', 'message_delivered', 'message_cancelled'])
const SENDERS: Readonly<Record<string, string>> = { user: 'you', baton: 'Baton' }

const SHOWN_MESSAGES = 4
const CUT_LENGTH = 240

/** Messages sent to the seat, and a form to send another. */
export function SeatMessages({ session }: { session: SessionDetail }) {
  const [all, setAll] = useState(false)
  const { data, problem, loading, refetch } = useCall('messages', { id: session.session_id, query: { limit: 50 } })
  useRefetchOnChange(refetch, useLastEventId(session.session_id, MESSAGE_EVENTS))
  const newest = [...(data?.messages ?? [])].sort((a, b) => (a.queued_at < b.queued_at ? 1 : -1))
  return (
    <Section title="Messages">
      <div className="stack">
        <SendBox session={session} sent={refetch} />
        {problem !== null && <Problem problem={problem} retry={refetch} />}
        {loading && <Skeleton />}
        {!loading && newest.length === 0 && problem === null && <p className="quiet">No messages yet.</p>}
        <ul className="messages">
          {newest.slice(0, all ? newest.length : SHOWN_MESSAGES).map((message) => (
            <MessageEntry key={message.message_id} message={message} refetch={refetch} />
          ))}
        </ul>
        {!all && newest.length > SHOWN_MESSAGES && (
          <button type="button" className="button messages-more" onClick={() => setAll(true)}>
            Show {newest.length - SHOWN_MESSAGES} more
          </button>
        )}
      </div>
    </Section>
  )
}

function SendBox({ session, sent }: { session: SessionDetail; sent: () => void }) {
  const form = useRef<HTMLFormElement>(null)
  const [text, setText] = useState('')
  const [mode, setMode] = useState<keyof typeof DELIVERY_MODES>('sequential')
  const { busy, trouble, act } = useAction()
  const send = (event: FormEvent): void => {
    event.preventDefault()
    if (text.trim() === '') return
    act(async () => {
      await callApi('send', { id: session.session_id, body: { text: text.trim(), mode } })
      setText('')
      showToast('The message is queued')
      sent()
    })
  }
  const press = (event: KeyboardEvent): void => {
    if (event.key === 'Enter' && (event.metaKey || event.ctrlKey)) form.current?.requestSubmit()
  }
  return (
    <form ref={form} className="send-box" onSubmit={send}>
      <textarea
        value={text}
        rows={3}
        maxLength={100_000}
        aria-label="Message to the agent"
        placeholder={
          session.state === 'ended'
            ? 'This session has ended. The next one in this seat gets the message.'
            : 'Write a message to the agent'
        }
        onChange={(event) => setText(event.target.value)}
        onKeyDown={press}
      />
      {trouble !== null && <Problem problem={trouble} />}
      <div className="row">
        <select
          value={mode}
          aria-label="When it is delivered"
          onChange={(event) => setMode(event.target.value as keyof typeof DELIVERY_MODES)}
        >
          {Object.entries(DELIVERY_MODES).map(([value, when]) => (
            <option key={value} value={value}>
              Deliver {when}
            </option>
          ))}
        </select>
        <button type="submit" className="button primary" disabled={busy || text.trim() === ''}>
          Send
        </button>
      </div>
    </form>
  )
}

/** Text of a message. A long one is cut until the user unfolds it. */
function MessageText({ text }: { text: string }) {
  const [whole, setWhole] = useState(text.length <= CUT_LENGTH)
  return (
    <>
      <p className="words">{whole ? text : `${text.slice(0, CUT_LENGTH).trimEnd()} …`}</p>
      {!whole && (
        <button type="button" className="fold" onClick={() => setWhole(true)}>
          Show all
        </button>
      )}
    </>
  )
}

function MessageEntry({ message, refetch }: { message: MessageView; refetch: () => void }) {
  const { busy, trouble, act } = useAction()
  const withdraw = (): void =>
    act(async () => {
      await callApi('unsend', { id: message.message_id })
      refetch()
    })
  return (
    <li className="message" data-status={message.status}>
      <p className="message-head">
        <StateBadge state={message.status} />
        <span className="quiet">
          {SENDERS[message.sender] ?? message.sender}, {DELIVERY_MODES[message.mode]}
        </span>
        <span className="quiet message-when">
          <RelativeTime at={message.delivered_at ?? message.queued_at} />
        </span>
      </p>
      {message.text !== null && <MessageText text={message.text} />}
      {message.reason !== null && <p className="quiet message-reason">Waiting: {message.reason}.</p>}
      {message.status === 'queued' && message.sender !== 'baton' && (
        <button type="button" className="fold" data-act="withdraw" disabled={busy} onClick={withdraw}>
          Withdraw
        </button>
      )}
      {trouble !== null && <Problem problem={trouble} />}
    </li>
  )
}
