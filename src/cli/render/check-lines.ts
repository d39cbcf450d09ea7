import type { Paint, Screen } from './screen.js'
import { harmless, padEnd } from './width.js'
import { wrap } from './wrap.js'

export interface Checked {
  name: string
  ok: boolean
  detail: string
  fix: string | null
  fixed: boolean
}

const NAME_WIDTH = 14

/** One check as a person reads it: what was found and, below it, what to do. */
export function checkLines(
  { name, ok, detail, fix, fixed }: Checked,
  { paint, columns }: Screen,
  home: string | undefined,
): string[] {
  const mark = fixed ? paint('✓', 'yellow') : ok ? paint('✓', 'green') : paint('✗', 'red')
  const indent = NAME_WIDTH + 3
  const shown = (text: string): string => harmless(home ? text.replaceAll(`${home}/`, '~/') : text)
  const lines = wrap(`${mark} ${padEnd(name, NAME_WIDTH)} ${detail === '' ? paint('–', 'dim') : shown(detail)}`, columns, indent)
  if (fix === null) return lines
  return [...lines, ...wrap(`${' '.repeat(indent)}${shown(fix)}`, columns, indent).map((line) => paint(line, 'bold'))]
}

export function verdict(checks: readonly Checked[], paint: Paint): string {
  const failed = checks.filter(({ ok }) => !ok).length
  const fixed = checks.filter((check) => check.fixed).length
  const mended = fixed === 0 ? '' : ` ${fixed === 1 ? 'One thing was' : `${fixed} things were`} mended.`
  if (failed === 0) return paint(`All is well.${mended}`, 'green')
  return paint(`${failed === 1 ? 'One check' : `${failed} checks`} of ${checks.length} found something.${mended}`, 'red')
}
