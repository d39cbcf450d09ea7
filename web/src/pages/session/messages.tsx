import { type FormEvent, type KeyboardEvent, useRef, useState } from 'react'
import type { MessageShown, SessionDetail } from '../../../../src/contract/api/sessions.js'
import type { Event } from '../../../../src/contract/event.js'
import { call } from '../../api.js'
import { useLive } from '../../live/use-live.js'
import { Problem, Skeleton, Withheld } from '../../parts/faces.js'
import { Section } from '../../parts/page-head.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { StateBadge } from '../../parts/state-badge.js'
import { toast } from '../../parts/toast.js'
import { useAct } from '../../use-act.js'
import { useCall } from '../../use-call.js'
import { useSoon } from '../../use-soon.js'
import { useLastOf } from './use-session.js'

const TOLD: ReadonlySet<Event['type']> = new Set(['message_queued', 'message_delivered', 'message_cancelled'])
const MODES = {
  sequential: 'at the end of its turn',
  important: 'at the next tool boundary',
  urgent: 'as soon as the client can take it',
} as const

const FEW = 4
const LONG = 240

/** What the seat was told, and a box to tell it more. */
export function Messages({ session }: { session: SessionDetail }) {
  const words = useLive((live) => live.words)
  const [all, setAll] = useState(false)
  const { data, problem, loading, again } = useCall('messages', words ? { id: session.session_id, query: { limit: 50 } } : null)
  useSoon(useLastOf(session.session_id, TOLD), again)
  const newest = [...(data?.messages ?? [])].sort((a, b) => (a.queued_at < b.queued_at ? 1 : -1))
  return (
    <Section title="Messages">
      {!words ? (
        <Withheld what="What the seat was told" />
      ) : (
        <div className="stack">
          <SendBox session={session} sent={again} />
          {problem !== null && <Problem problem={problem} again={again} />}
          {loading && <Skeleton />}
          {!loading && newest.length === 0 && problem === null && <p className="quiet">Nothing was said yet.</p>}
          <ul className="messages">
            {newest.slice(0, all ? newest.length : FEW).map((message) => (
              <MessageEntry key={message.message_id} message={message} again={again} />
            ))}
          </ul>
          {!all && newest.length > FEW && (
            <button type="button" className="button messages-more" onClick={() => setAll(true)}>
              Show {newest.length - FEW} more
            </button>
          )}
        </div>
      )}
    </Section>
  )
}

function SendBox({ session, sent }: { session: SessionDetail; sent: () => void }) {
  const form = useRef<HTMLFormElement>(null)
  const [text, setText] = useState('')
  const [mode, setMode] = useState<keyof typeof MODES>('sequential')
  const { busy, trouble, act } = useAct()
  const send = (event: FormEvent): void => {
    event.preventDefault()
    if (text.trim() === '') return
    act(async () => {
      await call('send', { id: session.session_id, body: { text: text.trim(), mode } })
      setText('')
      toast('Queued')
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
          session.state === 'ended' ? 'The session is over; the seat’s next one will get it' : 'Tell the agent something'
        }
        onChange={(event) => setText(event.target.value)}
        onKeyDown={press}
      />
      {trouble !== null && <Problem problem={trouble} />}
      <div className="row">
        <select
          value={mode}
          aria-label="When it is delivered"
          onChange={(event) => setMode(event.target.value as keyof typeof MODES)}
        >
          {Object.entries(MODES).map(([value, when]) => (
            <option key={value} value={value}>
              {value}: {when}
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

/** A long one shows its beginning until all of it is wanted. */
function Text({ text }: { text: string }) {
  const [whole, setWhole] = useState(text.length <= LONG)
  return (
    <>
      <p className="words">{whole ? text : `${text.slice(0, LONG).trimEnd()} …`}</p>
      {!whole && (
        <button type="button" className="fold" onClick={() => setWhole(true)}>
          All of it
        </button>
      )}
    </>
  )
}

function MessageEntry({ message, again }: { message: MessageShown; again: () => void }) {
  const { busy, trouble, act } = useAct()
  const takeBack = (): void =>
    act(async () => {
      await call('unsend', { id: message.message_id })
      again()
    })
  return (
    <li className="message">
      <p className="message-head">
        <StateBadge state={message.status} />
        <span className="quiet">
          {message.sender}, {message.mode}
        </span>
        <span className="quiet message-when">
          <RelativeTime at={message.delivered_at ?? message.queued_at} />
        </span>
      </p>
      {message.text !== null && <Text text={message.text} />}
      {message.status === 'queued' && message.sender !== 'baton' && (
        <button type="button" className="fold" disabled={busy} onClick={takeBack}>
          Take it back
        </button>
      )}
      {trouble !== null && <Problem problem={trouble} />}
    </li>
  )
}
