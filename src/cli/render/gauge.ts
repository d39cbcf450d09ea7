import { percentText } from '../../policy/numbers.js'
import type { Colour, Paint } from './screen.js'

/** The same bounds as the status line's. */
export function heat(percent: number): Colour {
  return percent >= 85 ? 'red' : percent >= 70 ? 'yellow' : 'green'
}

/** A bar of `cells` cells; an unknown figure leaves it empty. */
export function bar(percent: number | null, cells: number, paint: Paint): string {
  const filled = percent === null ? 0 : Math.min(cells, Math.max(0, Math.round((percent / 100) * cells)))
  return paint('▰'.repeat(filled), heat(percent ?? 0)) + paint('▱'.repeat(cells - filled), 'dim')
}

/** `71.0%`, aligned under its neighbours; `–` when not known. */
export function percentCell(percent: number | null, paint: Paint): string {
  return percent === null ? '–' : paint(percentText(percent), heat(percent))
}
