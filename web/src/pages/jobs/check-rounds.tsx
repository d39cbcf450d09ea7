import { durationText, plural } from '../../format.js'
import { CopyButton } from '../../parts/copy-button.js'
import { StateBadge } from '../../parts/state-badge.js'
import { type Check, type Round, roundsOf } from './job-facts.js'

/** What Baton ran itself before it believed that the job is done, the newest round first. */
export function CheckRounds({ checks }: { checks: readonly Check[] }) {
  const rounds = roundsOf(checks)
  if (rounds.length === 0)
    return <p className="quiet">None has run. They run when the agent says that it is done; without any, its word is taken.</p>
  return (
    <div className="rounds">
      {rounds.map((round, place) => (
        <details key={round.round} open={place === 0 || undefined}>
          <summary>
            Round {round.round}
            <span className="quiet"> {summaryOf(round)}</span>
          </summary>
          <ul className="round-checks">
            {round.checks.map((check) => (
              <CheckLine key={`${check.name} ${check.output_path}`} check={check} />
            ))}
          </ul>
        </details>
      ))}
    </div>
  )
}

const summaryOf = ({ failed, checks }: Round): string =>
  failed === 0 ? `${plural(checks.length, 'check')} passed` : `${failed} of ${plural(checks.length, 'check')} failed`

function CheckLine({ check }: { check: Check }) {
  const { name, command, ok, exit_code: code, timed_out: late, duration_ms: took, output_path: path } = check
  return (
    <li className="round-check" data-ok={ok}>
      <StateBadge state={ok ? 'ok' : 'failed'} tells={ok ? 'It ended with 0' : 'It did not end with 0'} />
      <span className="check-name">
        {name === null ? <span className="withheld">its name is withheld</span> : <code>{name}</code>}
        {command !== null && command !== name && <code className="quiet">{command}</code>}
      </span>
      <span className="check-end nowrap">
        {late ? 'did not end' : code === null ? 'was ended' : `exit ${code}`}
        <span className="quiet"> {durationText(took)}</span>
      </span>
      <CopyButton text={path} label="path of its output" />
    </li>
  )
}
