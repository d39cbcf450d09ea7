import type { Shelf } from './book.js'

/**
 * The model keeps no memory of a conversation: what it must know again it writes into its own answers, which the client
 * sends back with every request. Tool call ids say where in the script they came from; the line at the end of a summary
 * says which cycle it ended.
 */
export interface Mark {
  shelf: Shelf
  part: number
  cycle: number
  /** The step, or the number of the reply. */
  step: number
  reply: boolean
}

/** `serial` makes the id unlike any other, also in another session. */
export function toolId(mark: Mark, index: number, serial: string): string {
  return `toolu_${mark.shelf === 'main' ? 'm' : 's'}${mark.part}c${mark.cycle}${mark.reply ? 'r' : 's'}${mark.step}k${index}x${serial}`
}

export function readToolId(id: string): Mark | null {
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

/** `steps`: how many answers of the cycle the summariser saw. The client keeps later ones word for word. */
interface SummaryMark {
  part: number
  cycle: number
  steps: number
}

export const summaryMark = ({ part, cycle, steps }: SummaryMark): string =>
  `[scripted summary ${part}.${cycle}.${steps}]`

/** The newest mark in a summary: one made from an earlier summary may quote it. */
export function readSummaryMark(text: string): SummaryMark | null {
  let newest: SummaryMark | null = null
  for (const [, part, cycle, steps] of text.matchAll(/\[scripted summary (\d+)\.(\d+)\.(\d+)\]/g)) {
    const mark = { part: Number(part), cycle: Number(cycle), steps: Number(steps) }
    if (!newest || mark.cycle > newest.cycle) newest = mark
  }
  return newest
}
