import type { JobDetail, JobShown } from '../../../../src/contract/api/jobs.js'
import { durationText, groupedText, moneyText, percentText, tokensText } from '../../format.js'
import { type Budget, budgetsOf } from './job-facts.js'

const NAMES: Record<Budget['id'], string> = {
  usd: 'Cost',
  tokens: 'Tokens',
  turns: 'Steps',
  minutes: 'Time at work',
  handoffs: 'Handoffs',
}
const TEXT: Record<Budget['id'], (figure: number | null) => string> = {
  usd: moneyText,
  tokens: tokensText,
  turns: groupedText,
  minutes: (minutes) => durationText(minutes === null ? null : minutes * 60_000),
  handoffs: groupedText,
}

/** Used of what is allowed. What has no limit is told as a figure alone. */
export function BudgetBars({ job }: { job: JobDetail | JobShown }) {
  return (
    <dl className="budgets">
      {budgetsOf(job).map((budget) => (
        <div key={budget.id}>
          <dt>{NAMES[budget.id]}</dt>
          <dd>
            {TEXT[budget.id](budget.used)}
            <span className="quiet"> {budget.allowed === null ? 'no limit' : `of ${TEXT[budget.id](budget.allowed)}`}</span>
          </dd>
          {budget.allowed !== null && budget.allowed > 0 && (
            <dd className="budget-part">
              <Bar name={NAMES[budget.id]} budget={budget} />
            </dd>
          )}
        </div>
      ))}
    </dl>
  )
}

function Bar({ name, budget: { used, allowed } }: { name: string; budget: Budget }) {
  const percent = used === null ? 0 : Math.min(100, (used / allowed!) * 100)
  return (
    <div
      className="budget-bar"
      role="meter"
      aria-label={`${name} used`}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(percent)}
      aria-valuetext={used === null ? 'not known yet' : `${percentText(percent)} used`}
      data-spent={percent >= 100 || undefined}
    >
      <span style={{ inlineSize: `${percent}%` }} />
    </div>
  )
}
