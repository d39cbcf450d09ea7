import type { ConversationKind } from './book.js'

/**
 * The position of an answer in the script, stored in the answer itself.
 *
 * The model keeps no state of a conversation.
 * The client sends all answers back with every request.
 * Therefore a tool call id holds its position, and the last line of a summary holds its cycle.
 */
export interface AnswerMark {
  shelf: ConversationKind
  part: number
  cycle: number
  /** Number of the step, or of the reply. */
  step: number
  reply: boolean
}

/** Returns an id for a tool call. `serial` makes it unique across sessions. */
export function toolId(mark: AnswerMark, index: number, serial: string): string {
  return (
    `toolu_${mark.shelf === 'main' ? 'm' : 's'}${mark.part}c${mark.cycle}${mark.reply ? 'r' : 's'}${mark.step}` +
    `k${index}x${serial}`
  )
}

export function readToolId(id: string): AnswerMark | null {
  const found = /^toolu_([ms])(\d+)c(\d+)([rs])(\d+)k\d+x/.exec(id)
  if (!found) return null
  return {
    shelf: found[1] === 'm' ? 'main' : 'sub',
    part: Number(found[2]),
    cycle: Number(found[3]),
    reply: found[4] === 'r',
    step: Number(found[5]),
  }
}

/**
 * The mark at the end of a summary.
 * `steps` counts the answers of the cycle that the summariser saw.
 * The client keeps later answers verbatim.
 */
interface SummaryMark {
  part: number
  cycle: number
  steps: number
}

export const summaryMark = ({ part, cycle, steps }: SummaryMark): string =>
  `[scripted summary ${part}.${cycle}.${steps}]`

/** Returns the mark with the highest cycle: a summary may quote the marks of earlier summaries. */
export function readSummaryMark(text: string): SummaryMark | null {
  let newest: SummaryMark | null = null
  for (const [, part, cycle, steps] of text.matchAll(/\[scripted summary (\d+)\.(\d+)\.(\d+)\]/g)) {
    const mark = { part: Number(part), cycle: Number(cycle), steps: Number(steps) }
    if (!newest || mark.cycle > newest.cycle) newest = mark
  }
  return newest
}
