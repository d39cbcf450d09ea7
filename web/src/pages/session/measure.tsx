import type { Forecast, SessionDetail } from '../../../../src/contract/api/sessions.js'
import { durationText, groupedText, moneyText, percentText, plural, tokensText } from '../../format.js'
import { Gauge, GaugeNumber } from '../../parts/gauge.js'
import { RelativeTime } from '../../parts/relative-time.js'
import { useCall } from '../../use-call.js'

/** The figures: how full, how long it lasts, what it cost. */
export function Measure({ session }: { session: SessionDetail }) {
  const { spend } = session
  const sent = spend.input_tokens + spend.cache_creation_tokens + spend.cache_read_tokens
  return (
    <section className="measure" aria-label="Figures">
      <div className="measure-full">
        <p className="measure-number">
          <GaugeNumber figures={session} />
          <span className="measure-of">
            of the compaction point
            <span>
              {session.used_tokens === null ? (
                'no reading in this cycle yet'
              ) : (
                <>
                  {groupedText(session.used_tokens)} of {groupedText(session.compaction_tokens)} tokens
                </>
              )}
            </span>
          </span>
        </p>
        <Gauge figures={session} size="hero" />
      </div>
      <dl className="measure-figures">
        <Soon session={session} />
        <div>
          <dt>spent</dt>
          <dd>{moneyText(spend.cost_usd)}</dd>
          <dd className="quiet">
            {sent === 0 ? 'tokens not told' : `${tokensText(sent)} in, ${tokensText(spend.output_tokens)} out`}
          </dd>
        </div>
        <div>
          <dt>cache hits</dt>
          <dd>{spend.cache_hit_rate === null ? '–' : percentText(spend.cache_hit_rate * 100)}</dd>
          <dd className="quiet">of what was sent</dd>
        </div>
        <div>
          <dt>cycle {session.cycle}</dt>
          <dd>{plural(session.compactions, 'compaction')}</dd>
          <dd className="quiet">
            read <RelativeTime at={session.updated_at} />
          </dd>
        </div>
      </dl>
    </section>
  )
}

/** Steps to the compaction, at the growth of this cycle. Asked for again with every reading that moves it. */
function Soon({ session }: { session: SessionDetail }) {
  const { data } = useCall('forecast', session.state === 'ended' ? null : { id: session.session_id })
  const steps = session.steps_left
  const last = data?.levels.at(-1) ?? null
  const next = nextLevel(data, session.used_tokens)
  return (
    <div>
      <dt>to compaction</dt>
      <dd>{steps === null || session.state === 'ended' ? '–' : `~${plural(steps, 'step')}`}</dd>
      <dd className="quiet">
        {steps === null || session.state === 'ended'
          ? 'not known'
          : [range(last), session.tokens_per_step === null ? null : `${tokensText(session.tokens_per_step)} a step`, next]
              .filter((part) => part !== null)
              .join(' · ')}
      </dd>
    </div>
  )
}

function range(level: Forecast['levels'][number] | null): string | null {
  if (level === null) return null
  const minutes =
    level.minutes === null ? null : level.minutes < 1 ? 'under a minute' : `~${durationText(level.minutes * 60_000)}`
  const steps = level.low === null || level.high === null || level.low === level.high ? null : `${level.low} to ${level.high}`
  return [steps, minutes].filter((part) => part !== null).join(', ') || null
}

function nextLevel(forecast: Forecast | null, used: number | null): string | null {
  const next = forecast?.levels.find(
    ({ at_tokens: at, name }) => name !== 'compaction' && at !== null && used !== null && at > used,
  )
  return next === undefined || next.steps === null ? null : `${next.name} in ~${next.steps}`
}
