import 'uplot/dist/uPlot.min.css'
import './curve.css'
import { useEffect, useRef, useState } from 'react'
import type uPlot from 'uplot'
import { clockText, exactText, groupedText, percentText } from '../format.js'
import type { GaugeLevel } from '../parts/gauge.js'
import { useDark } from '../theme.js'
import type { CurveData, Mark } from './curve-data.js'
import { drawCurve, heightOf, type Pointed, type Scene, showData } from './draw-curve.js'

export interface CurveProps {
  data: CurveData
  marks: readonly Mark[]
  levels: readonly GaugeLevel[]
  /** When this cycle began, in seconds. */
  cycleFrom: number | null
  label: string
}

/** The climb over time. Drag to zoom, twice to see all; the timeline beside it tells the same in words. */
export function Curve({ data, marks, levels, cycleFrom, label }: CurveProps) {
  const host = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const scene = useRef<Scene>({ levels, marks })
  const [pointed, setPointed] = useState<Pointed | null>(null)
  const [zoomed, setZoomed] = useState(false)
  const dark = useDark()
  scene.current = { levels, marks }
  const newest = useRef(data)
  newest.current = data

  // biome-ignore lint/correctness/useExhaustiveDependencies: other colours are a new drawing
  useEffect(() => {
    const element = host.current!
    const drawn = drawCurve(element, newest.current, () => scene.current, { point: setPointed, zoom: setZoomed })
    plot.current = drawn
    const resized = new ResizeObserver(() => drawn.setSize({ width: element.clientWidth, height: heightOf(element) }))
    resized.observe(element)
    return () => {
      resized.disconnect()
      drawn.destroy()
      plot.current = null
    }
  }, [dark])
  useEffect(() => {
    if (plot.current !== null) showData(plot.current, data, !zoomed)
  }, [data, zoomed])
  // biome-ignore lint/correctness/useExhaustiveDependencies: they are read from the scene when it is drawn
  useEffect(() => plot.current?.redraw(false), [marks, levels])

  const show = (from: number | undefined, to: number | undefined): void => {
    if (from !== undefined && to !== undefined && to > from) plot.current?.setScale('x', { min: from, max: to })
  }
  const [first, last] = [data[0][0], data[0].at(-1)]
  const scale = (by: number): void => {
    const { min, max } = plot.current?.scales.x ?? {}
    if (min == null || max == null || first === undefined || last === undefined) return
    const middle = (min + max) / 2
    const half = ((max - min) / 2) * by
    show(Math.max(first, middle - half), Math.min(last, middle + half))
  }
  return (
    <figure className="curve">
      <div className="curve-tools" role="group" aria-label="What the curve shows">
        <button type="button" className="button" aria-pressed={!zoomed} onClick={() => show(first, last)}>
          All
        </button>
        <button
          type="button"
          className="button"
          disabled={cycleFrom === null}
          onClick={() => show(Math.max(first ?? 0, cycleFrom ?? 0), last)}
        >
          This cycle
        </button>
        <button
          type="button"
          className="button"
          onClick={() => last !== undefined && show(Math.max(first ?? 0, last - 3_600), last)}
        >
          Last hour
        </button>
        <button type="button" className="button" aria-label="Closer" onClick={() => scale(0.5)}>
          +
        </button>
        <button type="button" className="button" aria-label="Further" disabled={!zoomed} onClick={() => scale(2)}>
          −
        </button>
      </div>
      <div className="curve-host" ref={host} role="img" aria-label={label}>
        {pointed !== null && <Reading pointed={pointed} plot={plot.current} />}
      </div>
      <figcaption className="curve-legend quiet">
        <span>
          <i className="legend-warning" /> warning
        </span>
        <span>
          <i className="legend-compaction" /> compaction
        </span>
        <span>
          <i className="legend-handoff" /> handoff
        </span>
        <span className="curve-hint">drag to zoom, double-click for all</span>
      </figcaption>
    </figure>
  )
}

function Reading({ pointed, plot }: { pointed: Pointed; plot: uPlot | null }) {
  if (plot === null) return null
  const offset = plot.over.offsetLeft
  const isRight = pointed.left > plot.over.clientWidth / 2
  return (
    <div
      className="curve-reading"
      data-side={isRight ? 'left' : 'right'}
      style={{ insetInlineStart: `${offset + pointed.left}px`, insetBlockStart: `${plot.over.offsetTop + 4}px` }}
    >
      <strong>{groupedText(pointed.used)}</strong> tokens
      {pointed.point !== null && <div>{percentText((pointed.used / pointed.point) * 100)} of the compaction point</div>}
      <div className="quiet" title={exactText(pointed.at)}>
        {clockText(pointed.at)}
      </div>
      {pointed.mark !== null && (
        <div>
          {pointed.mark.label} at {clockText(pointed.mark.at * 1_000)}
        </div>
      )}
    </div>
  )
}
