import type { ResolvedLevel } from '../../contract/level.js'
import type { Limits } from '../../contract/reading.js'
import { grouped } from '../../policy/numbers.js'
import type { Screen } from './screen.js'
import { type Column, table } from './table.js'
import { harmless } from './width.js'
import { wrap } from './wrap.js'

const COLUMNS: Column<ResolvedLevel>[] = [
  { title: 'LEVEL', dropAt: 0, cell: (level) => harmless(level.name) },
  { title: 'AT', dropAt: 0, align: 'right', cell: (level) => (level.atTokens === null ? '–' : grouped(level.atTokens)) },
  { title: 'RULE', dropAt: 0, cell: (level) => harmless(level.rule) },
  { title: 'DOES', dropAt: 2, shrinkTo: 12, cell: (level) => harmless(level.actions.join(', ') || 'timeline only') },
  { title: 'TELLS', dropAt: 3, cell: (level) => (level.actions.length === 0 ? '' : level.mode) },
  { title: 'WRITTEN IN', dropAt: 1, shrinkTo: 16, cutFrom: 'start', cell: (level) => harmless(level.from) },
]

/** Where each level stands and who put it there; below it those that will never be reached. */
export function levelTable(levels: readonly ResolvedLevel[], limits: Limits, { columns, paint }: Screen): string[] {
  if (levels.length === 0) return ['There are no levels.']
  const beyond = levels.filter((level) => level.atTokens !== null && !level.reachable).map((level) => level.name)
  const end = limits.mode === 'off' ? 'refuses' : 'compacts'
  const sentence = `Unreachable, because the agent ${end} first (at ${grouped(limits.point ?? 0)}): ${harmless(beyond.join(', '))}.`
  return [...table(levels, COLUMNS, columns, paint), ...(beyond.length === 0 ? [] : ['', ...wrap(sentence, columns, 2)])]
}

export function limitsLine(limits: Limits, measured: boolean): string {
  if (limits.point === null) {
    return measured
      ? 'Its window is not known yet: levels in percent cannot be placed.'
      : 'No session was seen here: levels in percent get their place when one is measured.'
  }
  const end = limits.mode === 'off' ? 'Refusal point' : 'Compaction point'
  const window = limits.window === null ? '' : `, window ${grouped(limits.window)}`
  const reactive = limits.mode === 'reactive' ? '; compacts only when the API refuses' : ''
  return `${end} ${limits.exact ? '' : 'about '}${grouped(limits.point)}${window} (${harmless(limits.reason)}${reactive}).`
}
