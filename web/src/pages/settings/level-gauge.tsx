import { useEffect, useRef, useState } from 'react'
import type { Settings } from '../../../../src/contract/api/settings.js'
import { percentText, tokensText } from '../../format.js'
import { Gauge } from '../../parts/gauge.js'
import { severityOf } from '../../severity.js'
import { placeLevels, rowsOf } from './place-labels.js'

const CHARACTER = 6.6
const ROW = 34

/** The gauge with every level's name and place written under it. `used`: how far the session is now; null: there is none. */
export function LevelGauge({ settings, used }: { settings: Settings; used: number | null }) {
  const { compaction_tokens: point, levels, exact } = settings
  const ref = useRef<HTMLDivElement>(null)
  const width = useWidth(ref)
  const placed = placeLevels(levels, point)
  const labels = placed.map(({ level, percent }) => ({
    name: level.name,
    percent,
    place: level.at_tokens === null ? percentText(percent) : tokensText(level.at_tokens),
  }))
  const rows = rowsOf(
    labels.map(({ percent }) => percent),
    labels.map(({ name, place }) => Math.max(name.length, place.length) * CHARACTER),
    width,
  )
  // Without a compaction point the gauge is drawn to a hundred: parts of it are all that is known.
  const scale = point ?? 100
  return (
    <div className="level-gauge" ref={ref}>
      <Gauge
        size="row"
        label={point === null ? 'Levels as parts of the compaction point' : 'Levels up to the compaction point'}
        figures={{
          used_tokens: used ?? 0,
          compaction_tokens: scale,
          exact,
          levels: placed.map(({ level, percent }) => ({ name: level.name, at_tokens: (percent / 100) * scale })),
        }}
      />
      <ul className="level-labels" style={{ blockSize: `${(Math.max(-1, ...rows) + 1) * ROW + 8}px` }} aria-hidden="true">
        {labels.map(({ name, percent, place }, n) => (
          <li
            key={name}
            data-severity={severityOf(name, percent)}
            style={{
              insetInlineStart: `${percent}%`,
              insetBlockStart: `${rows[n]! * ROW + 8}px`,
              transform: `translateX(-${shiftOf(percent, Math.max(name.length, place.length) * CHARACTER, width)}%)`,
            }}
          >
            <span>{name}</span>
            <span className="quiet">{place}</span>
          </li>
        ))}
      </ul>
    </div>
  )
}

/** Labels near an end are moved in rather than cut off. */
function shiftOf(percent: number, wide: number, width: number): number {
  const middle = (percent / 100) * width
  const inner = Math.min(Math.max(middle, wide / 2), width - wide / 2)
  return 50 + ((middle - inner) / wide) * 100
}

function useWidth(ref: React.RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(800)
  useEffect(() => {
    if (ref.current === null) return
    const watch = new ResizeObserver(([entry]) => entry && setWidth(entry.contentRect.width))
    watch.observe(ref.current)
    return () => watch.disconnect()
  }, [ref])
  return width
}
