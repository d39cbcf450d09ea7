import { formatCount } from '../lib/format-count.js'
import { type ArmReport, percent, type ReplayReport } from './replay-report.js'

const WIDTH = 720
const LEFT = 208
const RIGHT = 132
const TOP = 84
const ROW = 46
const BAR = 20

const LABELS: Record<ArmReport['name'], string> = {
  summary: "client's summary",
  'summary and recovery': 'summary + recovery',
  brief: 'Baton’s brief',
  'last messages': 'last messages',
}

const escapeXml = (text: string): string =>
  text.replace(/[&<>"]/g, (one) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[one]!)

const tenths = (value: number): number => Math.round(value * 10) / 10

/** Draws the shares of needed tokens as bars with their intervals, for light and dark pages. */
export function drawReplay(report: ReplayReport): string {
  const { arms, intervals, compactions } = report
  const of = arms[0]!.needed.of
  const span = WIDTH - LEFT - RIGHT
  const height = TOP + arms.length * ROW + 52
  const x = (share: number): number => tenths(LEFT + share * span)
  const title = 'What is left after a compaction'
  const subtitle = `Needed tokens kept, of ${of}, in ${formatCount(compactions, 'compaction')}; lines: 95% intervals`
  const description = arms
    .map((arm) => `${LABELS[arm.name]}: ${percent(arm)} of ${of} in ${arm.characters ?? 0} characters`)
    .join('; ')
  const rows = arms.map((arm, index) => {
    const y = TOP + index * ROW
    const middle = y + BAR / 2
    const share = of === 0 ? 0 : arm.needed.kept / of
    const interval = intervals.needed[arm.name]
    const own = arm.name === 'summary' || arm.name === 'last messages' ? 'plain' : 'own'
    const whisker =
      interval === null
        ? ''
        : `<path class="line" d="M${x(interval[0])} ${middle}H${x(interval[1])}M${x(interval[0])} ${middle - 5}v10` +
          `M${x(interval[1])} ${middle - 5}v10"/>`
    const label = escapeXml(LABELS[arm.name])
    const beside = WIDTH - RIGHT + 12
    return [
      `<text class="label" x="${LEFT - 12}" y="${middle + 4.5}" text-anchor="end">${label}</text>`,
      `<rect class="track" x="${LEFT}" y="${y}" width="${span}" height="${BAR}" rx="4"/>`,
      `<rect class="${own}" x="${LEFT}" y="${y}" width="${tenths(share * span)}" height="${BAR}" rx="4"/>`,
      whisker,
      `<text class="value" x="${beside}" y="${middle + 1}">${percent(arm)}</text>`,
      `<text class="small" x="${beside}" y="${middle + 15}">${characters(arm)}</text>`,
    ].join('')
  })
  const below = TOP + arms.length * ROW + 4
  const axis = [0, 0.25, 0.5, 0.75, 1].map(
    (share) => `<text class="small" x="${x(share)}" y="${below}" text-anchor="middle">${share * 100}%</text>`,
  )
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" ` +
      'role="img" aria-labelledby="title description">',
    `<title id="title">${escapeXml(title)}</title>`,
    `<desc id="description">${escapeXml(description)}</desc>`,
    STYLE,
    `<rect class="page" width="${WIDTH}" height="${height}" rx="10"/>`,
    `<text class="title" x="24" y="34">${escapeXml(title)}</text>`,
    `<text class="small" x="24" y="56">${escapeXml(subtitle)}</text>`,
    ...rows,
    ...axis,
    `<text class="small" x="24" y="${height - 14}">Needed: a path, number or identifier from before that the ` +
      `agent used within ${report.calls_after} calls. Measured by baton proof.</text>`,
    '</svg>',
    '',
  ].join('\n')
}

const characters = ({ characters: count }: ArmReport): string =>
  count === null ? '' : `${(count / 1000).toFixed(1)}k characters`

const STYLE = `<style>
text { font-family: ui-sans-serif, system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
.title { font-size: 18px; font-weight: 600 } .label { font-size: 14px } .value { font-size: 16px; font-weight: 600 }
.small { font-size: 12px; fill: #59636e } .page { fill: #ffffff; stroke: #d1d9e0 } .track { fill: #eef1f4 }
.plain { fill: #9aa7b4 } .own { fill: #1f883d } .line { stroke: #1f2328; stroke-width: 1.5; fill: none }
@media (prefers-color-scheme: dark) {
text { fill: #f0f6fc } .small { fill: #9198a1 } .page { fill: #0d1117; stroke: #3d444d } .track { fill: #1c2128 }
.plain { fill: #656c76 } .own { fill: #3fb950 } .line { stroke: #f0f6fc }
}
</style>`
