import type { SessionRow } from '../../../src/contract/api/sessions.js'
import { groupedText, percentText, shortId, tokensText } from './format.js'
import { type Severity, severityAt, severityOf } from './severity.js'

export interface GaugeLevel {
  name: string
  at_tokens: number | null
  reachable?: boolean
}

interface GaugeFigures {
  used_tokens: number | null
  compaction_tokens: number | null
  compaction_percent?: number | null
  /** False when Baton estimated the compaction point because the client did not report it. */
  exact?: boolean
  level?: string | null
  /** Tokens at which the first level asks for a handoff; that tick is highlighted. */
  handoff_tokens?: number | null
  levels?: readonly GaugeLevel[]
}

/**
 * Bar that shows how full a session's context is, in three sizes.
 * The right end is the compaction point, and the levels are ticks.
 */
export function Gauge(props: {
  figures: GaugeFigures
  size?: 'row' | 'slim' | 'hero'
  label?: string
  /** Words after the percentage that say what it is of. Defaults to the way to compaction. */
  of?: string
}) {
  const { figures, size = 'row', label, of = 'of the way to compaction' } = props
  const { used_tokens: used, compaction_tokens: point, exact = true } = figures
  const percent = percentOf(figures)
  const severity = severityOf(figures.level ?? null, percent)
  const ticks = point === null ? [] : placeTicks(figures.levels ?? [], point)
  const description =
    percent === null
      ? 'not known yet'
      : `${percentText(percent)} ${of}: ${groupedText(used)} of ${groupedText(point)} tokens`.concat(
          exact ? '' : ' (estimated)',
        )
  return (
    <div className={`gauge gauge-${size}`} data-severity={severity} data-unknown={percent === null || undefined}>
      <div
        className="gauge-bar"
        role="meter"
        aria-label={label ?? 'Context used'}
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={Math.min(100, Math.round(percent ?? 0))}
        aria-valuetext={description}
        title={description}
      >
        <span className="gauge-fill" style={{ inlineSize: `${Math.min(100, percent ?? 0)}%` }} />
        {ticks.map((tick) => (
          <span
            key={tick.name}
            className="gauge-tick"
            data-handoff={tick.tokens === figures.handoff_tokens || undefined}
            title={
              tick.tokens === figures.handoff_tokens
                ? `Level ${tick.name} asks for a handoff at ${groupedText(tick.tokens)} tokens`
                : undefined
            }
            data-passed={(percent !== null && percent >= tick.percent) || undefined}
            style={{ insetInlineStart: `${tick.percent}%` }}
          />
        ))}
        <span className="gauge-end" />
      </div>
      {size === 'hero' && (
        <div className="gauge-scale" aria-hidden="true">
          {ticks.map((tick, n) => (
            <span
              key={tick.name}
              data-severity={tick.severity}
              data-tight={(ticks[n + 1]?.percent ?? 200) - tick.percent < 12 || undefined}
              style={{ insetInlineStart: `${tick.percent}%` }}
            >
              {tick.name}
            </span>
          ))}
        </div>
      )}
    </div>
  )
}

/** The percentage beside the bar, with `~` in front when the compaction point is estimated. */
export function GaugeNumber({ figures }: { figures: GaugeFigures }) {
  const percent = percentOf(figures)
  return (
    <span className="gauge-number" data-severity={severityOf(figures.level ?? null, percent)}>
      {percent !== null && figures.exact === false && (
        <span className="gauge-about" title="Estimated: the client did not report its compaction point">
          ~
        </span>
      )}
      {percentText(percent)}
    </span>
  )
}

/** Used tokens and the compaction point: `118k of 167k tokens`. */
export function GaugeTokens({ figures }: { figures: GaugeFigures }) {
  return (
    <span
      className="gauge-tokens nowrap"
      title={`${groupedText(figures.used_tokens)} of ${groupedText(figures.compaction_tokens)} tokens`}
    >
      {tokensText(figures.used_tokens)} <span className="quiet">of {tokensText(figures.compaction_tokens)} tokens</span>
    </span>
  )
}

/** Gauge of a subagent. The right end is the subagent's own context window. */
export function SubagentGauge({ subagent }: { subagent: SessionRow['subagents'][number] }) {
  return (
    <Gauge
      size="slim"
      of="of its context window"
      label={`Context of subagent ${subagent.type ?? shortId(subagent.subagent_id)}`}
      figures={{
        used_tokens: subagent.used_tokens,
        compaction_tokens: subagent.window_tokens,
        compaction_percent: subagent.used_percent,
      }}
    />
  )
}

function percentOf({
  used_tokens: used,
  compaction_tokens: point,
  compaction_percent: reported,
}: GaugeFigures): number | null {
  if (reported !== undefined && reported !== null) return reported
  return used === null || point === null || point === 0 ? null : (used / point) * 100
}

interface Tick {
  name: string
  tokens: number
  percent: number
  severity: Severity
}

function placeTicks(levels: readonly GaugeLevel[], point: number): Tick[] {
  return levels.flatMap(({ name, at_tokens: at }) => {
    if (at === null || at <= 0 || at >= point) return []
    const percent = (at / point) * 100
    return [{ name, tokens: at, percent, severity: severityOf(name, percent) || severityAt(percent) }]
  })
}
