import type { Archive } from '../../contract/archive.js'
import type { FactKind } from '../../contract/fact.js'
import type { CompactionRecord, LossReport } from '../../contract/loss.js'
import { bytesText } from './bytes.js'
import { factLine, putBack } from './fact-line.js'
import type { Paint } from './screen.js'
import { age, stamp } from './times.js'
import { wrap } from './wrap.js'

interface On {
  columns: number
  paint: Paint
  now: Date
}

/** How many compactions are shown, and how many facts the newest of them dropped. */
const SHOWN = 3
const LOST_SHOWN = 5
const CELLS = 10

/** How many transcripts of a session are kept, and the newest. */
export function archiveLines(archives: readonly Archive[], { columns, paint, now }: On): string[] {
  const kept = archives.filter(({ status }) => status === 'kept')
  const newest = kept.at(-1)
  const waits = archives.filter(({ status }) => status === 'pending').length
  const failed = archives.filter(({ status }) => status === 'failed').length
  const counts = [
    kept.length === 0 ? null : `${kept.length} kept`,
    waits === 0 ? null : `${waits} being kept`,
    failed === 0 ? null : paint(`${failed} failed (baton archive list)`, 'red'),
  ].filter((part) => part !== null)
  if (counts.length === 0) return []
  const last = newest && `${newest.archive_id}  ${age(newest.created_at, now)} ago, ${bytesText(newest.bytes)}, ${newest.trigger}`
  return [counts.join(', '), ...(last ? wrap(`newest ${last}`, columns, 7) : [])]
}

/** Each compaction with what its summary carries and what it dropped, newest first. `session`: how a command names it. */
export function compactionLines(compactions: readonly CompactionRecord[], session: string, on: On): string[] {
  const newest = compactions.toReversed()
  const earlier = newest.length - SHOWN
  return [
    ...newest.slice(0, SHOWN).flatMap((one, i) => oneCompaction(one, i === 0 ? session : null, on)),
    ...(earlier > 0 ? [on.paint(`and ${earlier} earlier (--json has all)`, 'dim')] : []),
  ]
}

function oneCompaction(one: CompactionRecord, session: string | null, { columns, paint }: On): string[] {
  const head = `${stamp(one.startedAt)}  ${one.trigger === 'manual' ? 'by hand' : 'by the client'}`
  const { loss } = one
  if (loss === null) return [head, ...wrap(`  ${paint(whyNoReport(one), 'dim')}`, columns, 2)]
  const back = putBack(one)
  const named = loss.lost.filter(back).length
  const lines = [
    head,
    ...wrap(
      `  ${keptLine(loss, paint)}${named > 0 ? `, ${named} of the ${loss.total - loss.kept} lost put back` : ''}`,
      columns,
      2,
    ),
    ...wrap(`  ${kindsText(loss)}`, columns, 2),
  ]
  if (session === null || loss.lost.length === 0) return lines
  const more = loss.total - loss.kept - Math.min(LOST_SHOWN, loss.lost.length)
  return [
    ...lines,
    `  lost, most needed first${loss.lost.some(back) ? ` (${paint('↩', 'green')} put back)` : ''}:`,
    ...loss.lost.slice(0, LOST_SHOWN).map((fact) => `    ${factLine(fact, back(fact), columns - 4, paint)}`),
    ...(more > 0 ? [`    ${paint(`and ${more} more: baton recall --lost --session ${session}`, 'dim')}`] : []),
  ]
}

/** `▰▰▰▰▰▰▰▱▱▱ facts kept 12 of 17` */
export function keptLine({ kept, total }: Pick<LossReport, 'kept' | 'total'>, paint: Paint): string {
  if (total === 0) return 'no facts stood in it'
  // Neither full nor empty unless it is.
  const filled = Math.max(kept > 0 ? 1 : 0, Math.min(kept < total ? CELLS - 1 : CELLS, Math.round((kept / total) * CELLS)))
  return `${paint('▰'.repeat(filled), 'green')}${paint('▱'.repeat(CELLS - filled), 'dim')} ${keptText({ kept, total })}`
}

export const keptText = ({ kept, total }: Pick<LossReport, 'kept' | 'total'>): string => `facts kept ${kept} of ${total}`

/** `request 1/1 · constraint 2/5`: kept of all, by kind, in the order of how much depends on them. */
export function kindsText({ byKind }: Pick<LossReport, 'byKind'>): string {
  return ORDER.flatMap((kind) => {
    const one = byKind[kind]
    return one ? [`${kind} ${one.kept}/${one.total}`] : []
  }).join(' · ')
}

const ORDER: readonly FactKind[] = [
  ...(['request', 'constraint', 'todo', 'question', 'test', 'decision'] as const),
  ...(['error', 'branch', 'commit', 'file', 'command'] as const),
]

export function whyNoReport({ trouble, facts }: CompactionRecord): string {
  if (trouble !== null) return `no loss report: ${trouble}`
  return facts === null ? 'no loss report yet: its transcript is still to be read' : 'no loss report: the summary is not known'
}
