import { closeSync, readSync } from 'node:fs'
import type { Signal } from '../../contract/signal.js'
import { scanLinesBackwards } from '../../lib/json-lines.js'
import { openNamedFile } from '../../lib/named-file.js'
import { asList, asObject, asText, parseObject } from './fields.js'

const KB = 1024
const NEAR_END = 32 * KB
const LOOK_BACK = 256 * KB
const MOST = 8 * 1024 * KB

/**
 * Returns whether the transcript already holds the entries that the signal refers to.
 * The client writes the transcript up to a tenth of a second late.
 * At a tool batch or the end of a turn, the newest answer may be missing.
 * Before a compaction, the newest tool results may be missing. Other signals need not wait.
 * `read` are the newest calls already read, which saves reading the file.
 * `upTo` is the position up to which the file was read. Later bytes do not count.
 */
export function isTranscriptSettled(
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
  if (signal.kind === 'compact-start') return withFile(signal.transcriptPath, upTo, hasAllResults)
  return true
}

function withFile(path: string, upTo: number, look: (fd: number, size: number) => boolean): boolean {
  const opened = openNamedFile(path, 'this-user')
  // A missing or forbidden transcript is not late, so nothing is waited for.
  if ('refused' in opened) return opened.refused !== 'unreadable'
  try {
    return look(opened.fd, Math.min(opened.stats.size, upTo))
  } catch {
    return false
  } finally {
    closeSync(opened.fd)
  }
}

/**
 * Returns whether the transcript contains one of the tool calls.
 * The calls of a batch belong to one answer, so any of them proves that the answer is written.
 */
function holdsAny(fd: number, size: number, from: number | null, ids: string[]): boolean {
  const most = Math.min(size, MOST, Math.max(LOOK_BACK, from === null ? 0 : size - from + LOOK_BACK))
  return [Math.min(NEAR_END, most), most].some((length) => {
    const buffer = Buffer.allocUnsafe(length)
    const got = readSync(fd, buffer, 0, length, size - length)
    return ids.some((id) => buffer.subarray(0, got).includes(`"${id}"`))
  })
}

/**
 * Returns whether every tool call of the newest answer has its result.
 * The client compacts only between two requests, so a missing result is about to be written.
 */
function hasAllResults(fd: number, size: number): boolean {
  const calls: string[] = []
  const results = new Set<string>()
  let isAnswerSeen = false
  scanLinesBackwards(fd, size, { longestLine: LOOK_BACK, most: LOOK_BACK }, (buffer, start, end) => {
    const entry = parseObject(buffer.toString('utf8', start, end))
    if (entry === null || entry.isSidechain === true) return false
    const blocks = asList(asObject(entry.message)?.content).map(asObject)
    if (entry.type === 'assistant') {
      isAnswerSeen = true
      for (const block of blocks) if (block?.type === 'tool_use') calls.push(asText(block.id) ?? '')
    } else if (entry.type === 'user') {
      if (isAnswerSeen) return true
      for (const block of blocks) if (block?.type === 'tool_result') results.add(asText(block.tool_use_id) ?? '')
    }
    return false
  })
  return calls.every((id) => results.has(id))
}

/** Returns whether the newest entry is the expected answer, not a prompt or tool result. */
function endsWithAnswer(fd: number, size: number, said: string | null): boolean {
  let settled = false
  scanLinesBackwards(fd, size, { longestLine: LOOK_BACK, most: LOOK_BACK }, (buffer, start, end) => {
    const entry = parseObject(buffer.toString('utf8', start, end))
    if (entry === null || entry.isSidechain === true || entry.isMeta === true) return false
    if (entry.type === 'user') return true
    if (entry.type !== 'assistant') return false
    const words = asList(asObject(entry.message)?.content)
      .map((block) => asText(asObject(block)?.text))
      .filter((part) => part !== null)
    settled = said === null || words.length === 0 || words.join('').trim() === said.trim()
    return true
  })
  return settled
}
