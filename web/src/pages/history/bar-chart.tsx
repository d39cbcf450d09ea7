import { type PointerEvent, useState } from 'react'
import { type Bar, datedBars, dateText, scaleOf, spanText } from './bars.js'

/** Bars over time. Who points at one reads it above; who listens is told the whole in a sentence, and the table has it all. */
export function BarChart({
  bars,
  format,
  isWhole,
  label,
  told,
}: {
  bars: readonly Bar[]
  format: (value: number | null) => string
  isWhole: boolean
  /** What a screen reader says of it. */
  label: string
  /** What stands above while nothing is pointed at. */
  told: string
}) {
  const [at, setAt] = useState<number | null>(null)
  const { top, lines } = scaleOf(Math.max(0, ...bars.map(({ value }) => value ?? 0)), isWhole)
  const dated = new Set(datedBars(bars))
  const bar = at === null ? undefined : bars[at]
  const point = (event: PointerEvent<HTMLDivElement>): void => {
    const { left, width } = event.currentTarget.getBoundingClientRect()
    setAt(Math.max(0, Math.min(bars.length - 1, Math.floor(((event.clientX - left) / width) * bars.length))))
  }
  return (
    <figure className="bar-chart">
      <p className="bar-chart-told" aria-hidden="true">
        {bar === undefined ? (
          <span className="quiet">{told}</span>
        ) : (
          <>
            <strong>{format(bar.value)}</strong> <span className="quiet">{spanText(bar)}</span>
          </>
        )}
      </p>
      <div className="bar-chart-body" role="img" aria-label={label}>
        <div className="bar-chart-lines">
          {lines.map((line) => (
            <span key={line} className="bar-chart-line" style={{ insetBlockEnd: `${(line / top) * 100}%` }}>
              {format(line)}
            </span>
          ))}
        </div>
        <div className="bar-chart-bars" onPointerMove={point} onPointerDown={point} onPointerLeave={() => setAt(null)}>
          {bars.map(({ from, value }, place) => (
            <span key={from} className="bar-chart-slot" data-at={place === at || undefined}>
              <span
                className="bar-chart-bar"
                data-some={(value ?? 0) > 0 || undefined}
                style={{ blockSize: `${Math.min(100, ((value ?? 0) / top) * 100)}%` }}
              />
            </span>
          ))}
        </div>
        <div className="bar-chart-dates">
          {bars.map(({ from }, place) =>
            dated.has(place) ? (
              <span
                key={from}
                className="bar-chart-date"
                data-last={place > bars.length * 0.96 || undefined}
                style={{ insetInlineStart: `${((place + 0.5) / bars.length) * 100}%` }}
              >
                {dateText(from)}
              </span>
            ) : null,
          )}
        </div>
      </div>
    </figure>
  )
}
