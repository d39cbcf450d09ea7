import type { JobLogPart } from '../../../../src/contract/api/jobs.js'

export type LogLine = JobLogPart['lines'][number]

/** Lines that are drawn together: one that is full never changes again, so that it is never drawn again either. */
export interface LogChunk {
  /** The number of its first line, from 0 over the whole log: its name. */
  first: number
  lines: readonly LogLine[]
}

export interface LogState {
  chunks: readonly LogChunk[]
  /** How many lines were heard, those left out again among them. */
  count: number
  /** Where to read on; null: nothing was read. */
  next: string | null
  /** There is more right now. */
  more: boolean
}

export const NOTHING_READ: LogState = { chunks: [], count: 0, next: null, more: true }
export const CHUNK = 100
/** What a page keeps of a log; `baton jobs logs` has all of it. */
export const MOST = 20_000

export function addPart(state: LogState, part: JobLogPart): LogState {
  const { next, more } = part
  if (part.lines.length === 0) return { ...state, next, more }
  const chunks = [...state.chunks]
  let count = state.count
  for (let at = 0; at < part.lines.length; ) {
    const last = chunks.at(-1)
    const room = last === undefined ? 0 : CHUNK - last.lines.length
    const taken = part.lines.slice(at, at + (room || CHUNK))
    if (last !== undefined && room > 0) chunks[chunks.length - 1] = { ...last, lines: [...last.lines, ...taken] }
    else chunks.push({ first: count, lines: taken })
    at += taken.length
    count += taken.length
  }
  return { chunks: chunks.slice(-MOST / CHUNK), count, next, more }
}

/** How many of the first lines are left out. */
export const leftOut = ({ chunks }: LogState): number => chunks[0]?.first ?? 0
