import { ContextCurve, Timeline } from './timeline.js'
import './session.css'
import { useState } from 'react'
import type { Forecast, HandoffView, SessionDetail } from '../../../../src/contract/api/sessions.js'
import { callApi, problemFrom } from '../../api/call-api.js'
import { useAction } from '../../api/use-act.js'
import { useCall } from '../../api/use-call.js'
import { seatName } from '../../live/seats.js'
import { CopyableId, CopyButton } from '../../parts/copy-button.js'
import { ConfirmDialog } from '../../parts/dialog.js'
import {
  countedNoun,
  durationText,
  folderName,
  groupedText,
  moneyText,
  percentText,
  shortId,
  tokensText,
} from '../../parts/format.js'
import { Gauge, GaugeNumber } from '../../parts/gauge.js'
import { handoffSentence, handoffWaitText } from '../../parts/handoff-text.js'
import { LevelMark } from '../../parts/level-mark.js'
import { ModelName } from '../../parts/model-name.js'
import { Link } from '../../parts/navigation.js'
import { PageHead } from '../../parts/page-head.js'
import { MissingRecord, Problem, Skeleton } from '../../parts/page-states.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { briefHref, jobHref, sessionHref } from '../../parts/route.js'
import { StateBadge } from '../../parts/state-badge.js'
import { showToast } from '../../parts/toast.js'
import { SeatMessages, SessionAside } from './session-aside.js'
import { useEvents, useSession } from './session-data.js'

export default function SessionPage({ id }: { id: string }) {
  const { session, whole, problem, refetch } = useSession(id)
  if (session === null) {
    return (
      <>
        <PageHead title={`Session ${shortId(id)}`} label={`Session ${shortId(id)}`} />
        {problem === null ? (
          <Skeleton lines={10} label="Loading the session" />
        ) : (
          <MissingRecord problem={problem} retry={refetch} list={{ href: '/?show=all', name: 'All sessions' }} />
        )}
      </>
    )
  }
  return (
    <article className="session">
      <SessionHead session={session} refetch={refetch} />
      {problem !== null && <Problem problem={problem} retry={refetch} />}
      <ContextFigures session={session} />
      <SessionHistory session={session} whole={whole} />
    </article>
  )
}

/** Fetches the events once, for both the curve and the timeline. */
function SessionHistory({ session, whole }: { session: SessionDetail; whole: boolean }) {
  const history = useEvents(session.session_id)
  return (
    <>
      <ContextCurve session={session} whole={whole} events={history.events} />
      <div className="session-columns">
        <Timeline session={session} history={history} />
        <div className="session-side">
          <SeatMessages session={session} />
          {whole ? <SessionAside session={session} /> : <Skeleton lines={6} label="Loading the rest" />}
        </div>
      </div>
    </>
  )
}

/** Figures of a session: how full its context is, steps left, and spend. */
function ContextFigures({ session }: { session: SessionDetail }) {
  const { spend } = session
  const sent = spend.input_tokens + spend.cache_creation_tokens + spend.cache_read_tokens
  return (
    <section className="measure" aria-label="Figures">
      <div className="measure-full">
        <p className="measure-number">
          {session.used_tokens === null ? (
            <span className="measure-of">
              no figures yet
              <span>They arrive with the model’s first answer.</span>
            </span>
          ) : (
            <>
              <GaugeNumber figures={session} />
              <span className="measure-of">
                of the way to compaction
                <span>
                  {groupedText(session.used_tokens)} of {groupedText(session.compaction_tokens)} tokens
                </span>
              </span>
            </>
          )}
        </p>
        <Gauge figures={session} size="hero" />
      </div>
      <dl className="measure-figures">
        <StepsLeft session={session} />
        <div>
          <dt>spent</dt>
          <dd>{moneyText(spend.cost_usd)}</dd>
          <dd className="quiet">
            {sent === 0 ? 'tokens not reported' : `${tokensText(sent)} in, ${tokensText(spend.output_tokens)} out`}
          </dd>
        </div>
        <div>
          <dt>cache hits</dt>
          <dd>{spend.cache_hit_rate === null ? '–' : percentText(spend.cache_hit_rate * 100)}</dd>
          <dd className="quiet">of input tokens</dd>
        </div>
        <div>
          <dt title="A cycle is the time from one emptying of the context to the next">cycle {session.cycle}</dt>
          <dd>{countedNoun(session.compactions, 'compaction')}</dd>
          <dd className="quiet">
            {session.updated_at === null ? (
              'not measured yet'
            ) : (
              <>
                measured <RelativeTime at={session.updated_at} />
              </>
            )}
          </dd>
        </div>
      </dl>
    </section>
  )
}

/** Steps left until compaction at the growth of this cycle. Fetched again when that changes. */
function StepsLeft({ session }: { session: SessionDetail }) {
  const { data } = useCall('forecast', session.state === 'ended' ? null : { id: session.session_id })
  const steps = session.steps_left
  const last = data?.levels.at(-1) ?? null
  const next = nextLevel(data, session.used_tokens)
  return (
    <div>
      <dt>until compaction</dt>
      <dd>{steps === null || session.state === 'ended' ? '–' : `≈${countedNoun(steps, 'step')}`}</dd>
      <dd className="quiet">
        {steps === null || session.state === 'ended'
          ? 'not known'
          : [
              stepRange(last),
              session.tokens_per_step === null ? null : `${tokensText(session.tokens_per_step)} tokens a step`,
              next,
            ]
              .filter((part) => part !== null)
              .join(' · ')}
      </dd>
    </div>
  )
}

function stepRange(level: Forecast['levels'][number] | null): string | null {
  if (level === null) return null
  const minutes =
    level.minutes === null ? null : level.minutes < 1 ? 'under a minute' : `≈${durationText(level.minutes * 60_000)}`
  const steps =
    level.low === null || level.high === null || level.low === level.high ? null : `${level.low} to ${level.high} steps`
  return [steps, minutes].filter((part) => part !== null).join(', ') || null
}

function nextLevel(forecast: Forecast | null, used: number | null): string | null {
  const next = forecast?.levels.find(
    ({ at_tokens: at, name }) => name !== 'compaction' && at !== null && used !== null && at > used,
  )
  return next === undefined || next.steps === null ? null : `${next.name} in ≈${countedNoun(next.steps, 'step')}`
}

function SessionHead({ session, refetch }: { session: SessionDetail; refetch: () => void }) {
  const name = seatName(session)
  const folder = session.project ?? session.cwd
  const resume = resumeCommand(session)
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
              {!session.enabled && <span className="sign">Baton off</span>}
            </span>
          </>
        }
      >
        <SessionActions session={session} refetch={refetch} />
      </PageHead>
      <ul className="session-about">
        {session.title !== null && session.title !== name && (
          <li className="cut" title={session.title}>
            {session.title}
          </li>
        )}
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
          <CopyableId id={session.session_id} label="session id" short={shortId(session.session_id)} />
        </li>
        {resume !== null && (
          <li>
            <span className="id nowrap">
              <code title={resume}>{resume.replace(session.session_id, `${shortId(session.session_id)}…`)}</code>
              <CopyButton text={resume} label="command that resumes this session" />
            </span>
          </li>
        )}
      </ul>
      {session.config_trouble !== null && <p className="strip bad">{session.config_trouble}</p>}
      {next !== undefined && (
        <p className="strip" data-next={next.session_id}>
          A newer session continues in this seat:{' '}
          <Link href={sessionHref(next.session_id)}>{shortId(next.session_id)}</Link>
        </p>
      )}
      {session.handoff !== null && <HandoffStrip session={session} handoff={session.handoff} refetch={refetch} />}
    </>
  )
}

/**
 * The command that opens the session again in a terminal. Null for an agent without one.
 * Null for a job's session, too, because only its job resumes it.
 */
function resumeCommand({ agent, session_id: id, job_id }: SessionDetail): string | null {
  if (job_id !== null) return null
  if (agent === 'claude-code') return `claude --resume ${id}`
  return agent === 'codex' ? `codex resume ${id}` : null
}

/** Buttons that change a session. */
function SessionActions({ session, refetch }: { session: SessionDetail; refetch: () => void }) {
  const [asking, setAsking] = useState(false)
  const { busy, act } = useAction()
  const { session_id: id, enabled } = session
  const isOver = session.state === 'ended'
  const toggle = (): void =>
    act(async () => {
      try {
        const { enabled: now } = await callApi('switchSession', { id, body: { enabled: !enabled } })
        showToast(now ? 'Baton is on in this session' : 'Baton is off in this session')
      } catch (error) {
        showToast(problemFrom(error).error)
      }
      refetch()
    })
  return (
    <div className="row">
      <button
        type="button"
        className="button"
        data-act={enabled ? 'off' : 'on'}
        disabled={busy}
        title="While Baton is off it only measures: it sends no messages and starts no handoffs in this session."
        onClick={toggle}
      >
        {enabled ? 'Turn Baton off' : 'Turn Baton on'}
      </button>
      {!isOver && session.handoff === null && (
        <button type="button" className="button primary" data-act="handoff" onClick={() => setAsking(true)}>
          Hand over now
        </button>
      )}
      {asking && <AskHandoff session={session} onClose={() => setAsking(false)} refetch={refetch} />}
    </div>
  )
}

function AskHandoff({
  session,
  onClose,
  refetch,
}: {
  session: SessionDetail
  onClose: () => void
  refetch: () => void
}) {
  const [reason, setReason] = useState('')
  const { busy, trouble, act } = useAction()
  const ask = (): void =>
    act(async () => {
      await callApi('handOff', {
        id: session.session_id,
        body: { reason: reason.trim() === '' ? null : reason.trim() },
      })
      showToast('Baton asks the agent for a brief')
      onClose()
      refetch()
    })
  return (
    <ConfirmDialog
      open
      title={`Hand over ${seatName(session)} to a fresh session?`}
      yes="Hand over"
      busy={busy}
      onYes={ask}
      onClose={onClose}
    >
      <p>
        The agent writes a brief at the end of its turn. Baton checks it against the transcript and starts a fresh
        session with it in the same seat. Running tools are not interrupted.
      </p>
      <label className="field">
        <span>Reason (optional)</span>
        <input value={reason} maxLength={2_000} onChange={(event) => setReason(event.target.value)} />
      </label>
      {trouble !== null && <Problem problem={trouble} />}
    </ConfirmDialog>
  )
}

/** The running handoff of a session, its state, and a button to cancel it. */
function HandoffStrip({
  session,
  handoff,
  refetch,
}: {
  session: SessionDetail
  handoff: HandoffView
  refetch: () => void
}) {
  const waits = handoffWaitText(handoff)
  const [asking, setAsking] = useState(false)
  const { busy, trouble, act, reset } = useAction()
  const cancel = (): void =>
    act(async () => {
      await callApi('cancelHandoff', { id: session.session_id })
      showToast('The handoff is cancelled')
      setAsking(false)
      refetch()
    })
  return (
    <div className="strip" data-handoff={handoff.state} data-waits-for={handoff.hindered_by ?? undefined}>
      <p>
        <strong>Handoff {handoff.number}</strong> {handoffSentence(handoff)} {waits !== null && `It waits: ${waits}. `}
        <span className="quiet">
          since <RelativeTime at={handoff.state_at} />
        </span>
      </p>
      <div className="row">
        {handoff.brief_id !== null && <Link href={briefHref(handoff.brief_id)}>Read the brief</Link>}
        <button type="button" className="button" data-act="cancel-handoff" onClick={() => setAsking(true)}>
          Cancel the handoff
        </button>
      </div>
      <ConfirmDialog
        open={asking}
        title="Cancel the handoff?"
        yes="Cancel the handoff"
        no="Keep the handoff"
        busy={busy}
        onYes={cancel}
        onClose={() => {
          setAsking(false)
          reset()
        }}
      >
        <p>The session continues as it is. A brief that is already written stays in the list and is not used.</p>
        {trouble !== null && <Problem problem={trouble} />}
      </ConfirmDialog>
    </div>
  )
}
