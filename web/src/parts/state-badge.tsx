import { Spinner } from './spinner.js'

/** Tooltips that explain the states of a session. */
const STATE_HELP: Readonly<Record<string, string>> = {
  working: 'The agent is working',
  idle: 'The agent waits for your next prompt',
  waiting: 'The agent waits for a permission or an answer from you',
  compacting: 'The client is replacing the conversation with a summary',
  ended: 'The session has ended',
  unknown: 'The session stopped sending signals without a sign that it ended',
}

/** Icon and name of a state of a session, job, handoff, message or brief. */
export function StateBadge(props: {
  state: string
  /** Tooltip. Defaults to the explanation of a session's state. */
  help?: string | undefined
  /** Text shown in place of the state's own name. */
  word?: string
}) {
  const { state, help = STATE_HELP[state], word = state.replaceAll('-', ' ').replaceAll('_', ' ') } = props
  return (
    <span className="state" data-state={state} title={help}>
      {state === 'compacting' || state === 'handing-off' ? <Spinner /> : <Shape state={state} />}
      {word}
    </span>
  )
}

function Shape({ state }: { state: string }) {
  return (
    <svg className="state-shape" viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
      {shape(state)}
    </svg>
  )
}

function shape(state: string) {
  switch (state) {
    case 'working':
    case 'running':
    case 'started':
    case 'delivered':
    case 'used':
      return <circle cx="5" cy="5" r="4" fill="currentColor" />
    case 'waiting':
    case 'review':
    case 'paused':
      return <rect x="1" y="1" width="8" height="8" fill="currentColor" />
    case 'completed':
    case 'approved':
    case 'done':
    case 'kept':
    case 'ok':
      return <path d="M1 5.5 4 8.5 9 2" fill="none" stroke="currentColor" strokeWidth="2" />
    case 'failed':
    case 'cancelled':
      return <path d="M2 2 8 8M8 2 2 8" fill="none" stroke="currentColor" strokeWidth="2" />
    case 'ended':
    case 'superseded':
      return <path d="M1 5H9" fill="none" stroke="currentColor" strokeWidth="2" />
    default:
      return <circle cx="5" cy="5" r="3.25" fill="none" stroke="currentColor" strokeWidth="1.5" />
  }
}
