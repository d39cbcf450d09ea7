import type { History } from '../../../../src/contract/api/history.js'

export type Figures = History['totals']
export type Day = History['days'][number]

export interface Bar {
  /** `2026-11-16`, or the first and the last day of a week. */
  from: string
  to: string
  /** null: not known. */
  value: number | null
}

export type Measure = 'cost_usd' | 'sessions' | 'steps' | 'output_tokens' | 'compactions' | 'handoffs' | 'tokens_saved'

/** A bar a day; beyond a hundred of them a bar a week, the last week ending with the last day. */
export function barsOf(days: readonly Day[], measure: Measure): Bar[] {
  const size = days.length > 100 ? 7 : 1
  const bars: Bar[] = []
  for (let end = days.length; end > 0; end -= size) {
    const some = days.slice(Math.max(0, end - size), end)
    bars.unshift({ from: some[0]!.date, to: some.at(-1)!.date, value: total(some.map((day) => day[measure])) })
  }
  return bars
}

/** What is known of it; null where nothing is. */
function total(values: readonly (number | null)[]): number | null {
  const known = values.filter((value) => value !== null)
  return known.length === 0 ? null : known.reduce((all, one) => all + one, 0)
}

/** A round figure a little above the greatest one, and steps to it: at most four lines, each with a short name. */
export function scaleOf(greatest: number, isWhole: boolean): { top: number; lines: number[] } {
  if (greatest <= 0) return { top: 1, lines: [] }
  const rough = greatest / 3
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((each) => each >= rough)!
  const whole = isWhole ? Math.max(1, Math.ceil(step)) : step
  const top = Math.ceil(greatest / whole - 1e-9) * whole
  const lines = Array.from({ length: Math.round(top / whole) }, (_, n) => (n + 1) * whole)
  return { top, lines }
}

/** Which bars get their date written: the first of each month where there are several, else some at even distances from the end. */
export function datedBars(bars: readonly Bar[]): number[] {
  const months = bars.flatMap(({ from }, at) => (at > 0 && from.slice(0, 7) !== bars[at - 1]!.from.slice(0, 7) ? [at] : []))
  if (months.length >= 3) return months.length > 6 ? months.filter((_, n) => n % 3 === 1) : months
  const step = Math.max(1, Math.round(bars.length / 4))
  return bars.map((_, at) => at).filter((at) => (bars.length - 1 - at) % step === 0)
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']

/** `16 Nov`; with the year where it is not this one's. */
export function dateText(date: string, year?: string): string {
  const [y, month, day] = date.split('-')
  return `${Number(day)} ${MONTHS[Number(month) - 1]}${year !== undefined && year !== y ? ` ${y}` : ''}`
}

export const spanText = ({ from, to }: Pick<Bar, 'from' | 'to'>): string =>
  from === to ? dateText(from) : `${dateText(from)} – ${dateText(to)}`
