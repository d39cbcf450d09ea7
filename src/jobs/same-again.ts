import { createHash } from 'node:crypto'
import type { ToolResult } from './runtimes/runtime.js'

/** From so many on the agent is told of it. */
export const SAME_TOLD = 10
/** So many, and it is taken to go round in a circle. */
export const SAME_MOST = 20
/** A batch that takes so long waits for something: asking again and again is what it should do. */
const WAITS_MS = 10_000

/** Counts how often in a row an agent made the same calls and got the same results. */
export class SameAgain {
  #last = ''
  #times = 0

  /** How often it was the same by now, this time included. */
  took(calls: readonly ToolResult[], tookMs: number): number {
    if (tookMs >= WAITS_MS) return 0
    const all = JSON.stringify(calls.map(({ name, input, result, failed }) => [name, input, result, failed]))
    const mark = createHash('sha1').update(all).digest('base64')
    this.#times = mark === this.#last ? this.#times + 1 : 1
    this.#last = mark
    return this.#times
  }
}

export function sameText(times: number): string {
  return `[baton] The last ${times} batches of calls were the same and brought the same result. Do something else; if nothing is left to do, say that the job is done; if something keeps you from it, say what. At ${SAME_MOST} the job is ended.`
}
