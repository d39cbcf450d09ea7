import 'uplot/dist/uPlot.min.css'
import './curve.css'
import { useEffect, useRef, useState } from 'react'
import uPlot from 'uplot'
import { clockText, dayText, exactTimeText, groupedText, percentText, tokensText } from '../../parts/format.js'
import type { GaugeLevel } from '../../parts/gauge.js'
import { severityOf } from '../../parts/severity.js'
import { useDark } from '../../parts/theme.js'
import { type CurveData, type CurveMark, nearestReading, spanOfSingleReading } from './curve-data.js'

export interface CurveProps {
  data: CurveData
  marks: readonly CurveMark[]
  levels: readonly GaugeLevel[]
  /** Start of the current cycle, in seconds. Null when unknown. */
  cycleFrom: number | null
  label: string
}

/** Chart of used tokens over time. Dragging zooms in, a double click shows everything. */
export default function Curve({ data, marks, levels, cycleFrom, label }: CurveProps) {
  const host = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | null>(null)
  const scene = useRef<Scene>({ levels, marks })
  const [pointed, setPointed] = useState<Pointed | null>(null)
  const [zoomed, setZoomed] = useState(false)
  const dark = useDark()
  scene.current = { levels, marks }
  const latestData = useRef(data)
  latestData.current = data

  // biome-ignore lint/correctness/useExhaustiveDependencies: other colours need a new plot
  useEffect(() => {
    const element = host.current!
    const newPlot = drawCurve(element, latestData.current, () => scene.current, { point: setPointed, zoom: setZoomed })
    plot.current = newPlot
    const resized = new ResizeObserver(() => newPlot.setSize({ width: element.clientWidth, height: heightOf(element) }))
    resized.observe(element)
    return () => {
      resized.disconnect()
      newPlot.destroy()
      plot.current = null
    }
  }, [dark])
  useEffect(() => {
    // Ask the plot whether it is zoomed, because `zoomed` may lag behind a click.
    // Otherwise a reading that arrives in between would undo the zoom.
    if (plot.current !== null) showData(plot.current, data, !isZoomed(plot.current))
  }, [data])
  // biome-ignore lint/correctness/useExhaustiveDependencies: marks and levels are read from the scene
  useEffect(() => plot.current?.redraw(false), [marks, levels])

  const show = (from: number | undefined, to: number | undefined): void => {
    if (from !== undefined && to !== undefined && to > from) plot.current?.setScale('x', { min: from, max: to })
  }
  const [first, last] = [data[0][0], data[0].at(-1)]
  const canZoom = first !== undefined && last !== undefined && last > first
  const scale = (by: number): void => {
    const { min, max } = plot.current?.scales.x ?? {}
    if (min == null || max == null || first === undefined || last === undefined) return
    const middle = (min + max) / 2
    const half = ((max - min) / 2) * by
    show(Math.max(first, middle - half), Math.min(last, middle + half))
  }
  return (
    <figure className="curve">
      <div className="curve-tools" role="group" aria-label="Time range">
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
        <button
          type="button"
          className="button"
          aria-label="Zoom in"
          title="Zoom in"
          disabled={!canZoom}
          onClick={() => scale(0.5)}
        >
          +
        </button>
        <button
          type="button"
          className="button"
          aria-label="Zoom out"
          title="Zoom out"
          disabled={!zoomed}
          onClick={() => scale(2)}
        >
          −
        </button>
      </div>
      <div className="curve-host" ref={host} role="img" aria-label={label} data-readings={data[0].length}>
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
        <span className="curve-hint">drag to zoom, double-click to reset</span>
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
      {pointed.point !== null && (
        <div>{percentText((pointed.used / pointed.point) * 100)} of the way to compaction</div>
      )}
      <div className="quiet" title={exactTimeText(pointed.at)}>
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

/** Levels and marks drawn with the readings. Read at every redraw, so that they may change. */
interface Scene {
  levels: readonly GaugeLevel[]
  marks: readonly CurveMark[]
}

interface Pointed {
  left: number
  top: number
  at: number
  used: number
  point: number | null
  mark: CurveMark | null
}

/** Current colours of the page. A canvas does not follow the theme by itself. */
interface Ink {
  line: string
  area: string
  hairline: string
  text: string
  end: string
  accent: string
  surface: string
  levels: readonly string[]
}

function inkOf(element: Element): Ink {
  const probe = document.createElement('span')
  element.append(probe)
  const of = (name: string): string => {
    probe.style.color = `var(${name})`
    return getComputedStyle(probe).color
  }
  const ink = {
    line: of('--accent'),
    area: of('--accent-quiet'),
    hairline: of('--hairline'),
    text: of('--ink-3'),
    end: of('--ink-2'),
    accent: of('--accent'),
    surface: of('--ground'),
    levels: [0, 1, 2, 3, 4].map((rank) => of(`--level-${rank}`)),
  }
  probe.remove()
  return ink
}

function drawCurve(
  host: HTMLElement,
  data: CurveData,
  scene: () => Scene,
  handlers: { point: (pointed: Pointed | null) => void; zoom: (zoomed: boolean) => void },
): uPlot {
  const ink = inkOf(host)
  const font = `11px ${getComputedStyle(host).fontFamily}`
  const axis: uPlot.Axis = {
    stroke: ink.text,
    font,
    grid: { show: false },
    ticks: { stroke: ink.hairline, width: 1, size: 4 },
  }
  const plot = new uPlot(
    {
      width: Math.max(200, host.clientWidth),
      height: heightOf(host),
      padding: [12, 64, 0, 0],
      legend: { show: false },
      scales: { x: { time: true }, y: { range: (_, __, most) => [0, Math.max(1_000, (most ?? 0) * 1.04)] } },
      cursor: { y: false, points: { size: 7 }, drag: { x: true, y: false, uni: 8 } },
      axes: [
        { ...axis, values: (_, splits, __, ___, step) => splits.map((at) => timeText(at, step)), space: 72, size: 30 },
        {
          ...axis,
          values: (_, splits) => splits.map((tokens) => tokensText(tokens)),
          grid: { stroke: ink.hairline, width: 1 },
          size: 44,
        },
      ],
      series: [
        {},
        {
          stroke: ink.line,
          width: 1.75,
          fill: ink.area,
          points: { show: data[0].length < 60, size: 4, fill: ink.line },
        },
        { stroke: ink.end, width: 1, dash: [2, 3], points: { show: false }, spanGaps: true },
      ],
      hooks: {
        draw: [(plot) => drawScene(plot, scene(), ink, font)],
        setCursor: [(plot) => handlers.point(readingAtCursor(plot, scene()))],
        setScale: [(plot, key) => key === 'x' && handlers.zoom(isZoomed(plot))],
      },
    },
    data as uPlot.AlignedData,
    host,
  )
  fitSingleReading(plot, data)
  return plot
}

/** Replaces the readings. `all` resets the zoom to the whole range. */
function showData(plot: uPlot, data: CurveData, all: boolean): void {
  plot.setData(data as uPlot.AlignedData, all)
  if (all) fitSingleReading(plot, data)
}

function fitSingleReading(plot: uPlot, data: CurveData): void {
  const span = spanOfSingleReading(data)
  if (span !== null) plot.setScale('x', span)
}

const heightOf = (host: HTMLElement): number => (host.clientWidth < 560 ? 220 : 300)

function isZoomed(plot: uPlot): boolean {
  const at = plot.data[0]
  const { min, max } = plot.scales.x!
  return at.length > 1 && min != null && max != null && (min > at[0]! + 0.5 || max < at[at.length - 1]! - 0.5)
}

function timeText(at: number, step: number): string {
  if (step >= 86_400) return dayText(new Date(at * 1_000)).slice(5)
  const clock = clockText(at * 1_000)
  return step >= 60 ? clock.slice(0, 5) : clock
}

function drawScene(plot: uPlot, { levels, marks }: Scene, ink: Ink, font: string): void {
  const { ctx, bbox } = plot
  const ratio = devicePixelRatio
  ctx.save()
  ctx.font = font.replace(/^\d+px/, `${11 * ratio}px`)
  ctx.lineWidth = ratio
  ctx.textBaseline = 'middle'
  ctx.textAlign = 'left'
  const right = bbox.left + bbox.width
  const top = lastOf(plot.data[2] as (number | null)[])
  const lines = levels.flatMap(({ name, at_tokens: tokens }) =>
    tokens === null
      ? []
      : [{ name, y: plot.valToPos(tokens, 'y', true), ink: ink.levels[severityOf(name, null)]!, drawn: true }],
  )
  // The series of the compaction point needs two readings; draw the line by hand for a single one.
  const lone = plot.data[0].length === 1
  if (top !== null) lines.push({ name: 'compaction', y: plot.valToPos(top, 'y', true), ink: ink.end, drawn: lone })
  let free = 0
  for (const { name, y, ink: colour, drawn } of lines.sort((a, b) => a.y - b.y)) {
    if (y < 0 || y > bbox.top + bbox.height) continue
    ctx.strokeStyle = ctx.fillStyle = colour
    ctx.globalAlpha = 0.55
    if (drawn) line(ctx, [bbox.left, y], [right, y], [])
    ctx.globalAlpha = 1
    // Move labels down that would overlap.
    const at = Math.max(y, free)
    ctx.fillText(name, right + 6 * ratio, at, 58 * ratio)
    free = at + 12 * ratio
  }
  ctx.beginPath()
  ctx.rect(bbox.left, 0, bbox.width, bbox.top + bbox.height)
  ctx.clip()
  for (const mark of marks) drawMark(plot, mark, ink, ratio)
  ctx.restore()
}

function drawMark(plot: uPlot, mark: CurveMark, ink: Ink, ratio: number): void {
  const { ctx, bbox } = plot
  const x = plot.valToPos(mark.at, 'x', true)
  if (x < bbox.left || x > bbox.left + bbox.width) return
  if (mark.kind === 'warning') {
    if (mark.used === null) return
    const y = plot.valToPos(mark.used, 'y', true)
    ctx.fillStyle = ink.levels[mark.severity]!
    ctx.strokeStyle = ink.surface
    ctx.lineWidth = 1.5 * ratio
    shape(ctx, [
      [x, y - 6 * ratio],
      [x + 5.5 * ratio, y + 4 * ratio],
      [x - 5.5 * ratio, y + 4 * ratio],
    ])
    return
  }
  const isHandoff = mark.kind === 'handoff'
  ctx.strokeStyle = ctx.fillStyle = isHandoff ? ink.accent : ink.end
  ctx.lineWidth = ratio
  line(ctx, [x, bbox.top], [x, bbox.top + bbox.height], isHandoff ? [] : [4 * ratio, 3 * ratio])
  const y = bbox.top
  if (isHandoff)
    shape(
      ctx,
      [
        [x, y - 8 * ratio],
        [x + 9 * ratio, y - 4 * ratio],
        [x, y],
      ],
      false,
    )
  else
    shape(
      ctx,
      [
        [x - 5 * ratio, y - 8 * ratio],
        [x + 5 * ratio, y - 8 * ratio],
        [x, y],
      ],
      false,
    )
}

type Place = readonly [x: number, y: number]

function line(ctx: CanvasRenderingContext2D, from: Place, to: Place, dash: number[]): void {
  ctx.setLineDash(dash)
  ctx.beginPath()
  ctx.moveTo(...from)
  ctx.lineTo(...to)
  ctx.stroke()
  ctx.setLineDash([])
}

function shape(ctx: CanvasRenderingContext2D, corners: readonly Place[], outlined = true): void {
  ctx.beginPath()
  for (const corner of corners) ctx.lineTo(...corner)
  ctx.closePath()
  if (outlined) ctx.stroke()
  ctx.fill()
}

function readingAtCursor(plot: uPlot, { marks }: Scene): Pointed | null {
  const { left } = plot.cursor
  if (left === undefined || left === null || left < 0) return null
  const [at, used, point] = plot.data as unknown as CurveData
  const n = nearestReading(at, used, plot.posToVal(left, 'x'))
  if (n === null) return null
  const x = plot.valToPos(at[n]!, 'x')
  const mark = marks.find((each) => Math.abs(plot.valToPos(each.at, 'x') - left) < 8) ?? null
  return {
    left: x,
    top: plot.valToPos(used[n]!, 'y'),
    at: at[n]! * 1_000,
    used: used[n]!,
    point: point[n] ?? null,
    mark,
  }
}

const lastOf = (values: readonly (number | null)[]): number | null => values.findLast((value) => value !== null) ?? null
