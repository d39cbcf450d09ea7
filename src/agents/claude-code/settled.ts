import { closeSync, fstatSync, openSync, readSync, statSync } from 'node:fs'
import type { Signal } from '../../contract/signal.js'
import { scanLinesBackwards } from '../../lib/json-lines.js'
import { list, object, parseObject, text } from './fields.js'

const KB = 1024
const NEAR_END = 32 * KB
const LOOK_BACK = 256 * KB
const MOST = 8 * 1024 * KB

/**
 * Whether the transcript already holds what the signal speaks of. The client writes it up to a tenth of a second late, so at a tool
 * batch or the end of a turn the newest answer may still be missing. Other signals have nothing to wait for. `read`: the newest
 * calls already read, which saves a look into the file. `upTo`: how far it was read; what was written since then does not count.
 */
export function isSettled(
  signal: Signal,
  from: number | null,
  read: readonly string[] = [],
  upTo = Number.POSITIVE_INFINITY,
): boolean {
  if (signal.subagent !== null || signal.transcriptPath === null) return true
  if (signal.kind === 'tool-batch')
    return (
      signal.toolUseIds.length === 0 ||
      signal.toolUseIds.some((id) => read.includes(id)) ||
      withFile(signal.transcriptPath, upTo, (fd, size) => holdsAny(fd, size, from, signal.toolUseIds))
    )
  if (signal.kind === 'turn-end')
    return withFile(signal.transcriptPath, upTo, (fd, size) => endsWithAnswer(fd, size, signal.lastAnswer ?? null))
  return true
}

function withFile(path: string, upTo: number, look: (fd: number, size: number) => boolean): boolean {
  // A transcript that does not exist is not late.
  if (!statSync(path, { throwIfNoEntry: false })?.isFile()) return true
  let fd: number | null = null
  try {
    fd = openSync(path, 'r')
    const stat = fstatSync(fd)
    return stat.isFile() && look(fd, Math.min(stat.size, upTo))
  } catch {
    return false
  } finally {
    if (fd !== null) closeSync(fd)
  }
}

/** The calls of one batch belong to one answer: any of them shows that it is written. Mostly it stands near the end. */
function holdsAny(fd: number, size: number, from: number | null, ids: string[]): boolean {
  const most = Math.min(size, MOST, Math.max(LOOK_BACK, from === null ? 0 : size - from + LOOK_BACK))
  return [Math.min(NEAR_END, most), most].some((length) => {
    const buffer = Buffer.allocUnsafe(length)
    const got = readSync(fd, buffer, 0, length, size - length)
    return ids.some((id) => buffer.subarray(0, got).includes(`"${id}"`))
  })
}

/** The newest entry of the conversation is the answer the client speaks of, not the prompt or tool result before it. */
function endsWithAnswer(fd: number, size: number, said: string | null): boolean {
  let settled = false
  scanLinesBackwards(fd, size, { longestLine: LOOK_BACK, most: LOOK_BACK }, (buffer, start, end) => {
    const entry = parseObject(buffer.toString('utf8', start, end))
    if (entry === null || entry.isSidechain === true || entry.isMeta === true) return false
    if (entry.type === 'user') return true
    if (entry.type !== 'assistant') return false
    const words = list(object(entry.message)?.content)
      .map((block) => text(object(block)?.text))
      .filter((part) => part !== null)
    settled = said === null || words.length === 0 || words.join('').trim() === said.trim()
    return true
  })
  return settled
}
