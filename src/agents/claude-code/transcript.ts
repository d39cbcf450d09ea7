import { closeSync } from 'node:fs'
import type { Reading, Usage } from '../../contract/reading.js'
import type { Cursor, FailedCompaction, TranscriptEvent } from '../../contract/signal.js'
import { type ScanEnd, scanLines, scanLinesBackwards } from '../../lib/json-lines.js'
import { lookAtNamedFile, openNamedFile } from '../../lib/named-file.js'
import { mayHoldMeasurement, readTranscriptLine, type TranscriptLine } from './transcript-line.js'

const MB = 1024 * 1024
/**
 * Size up to which a new transcript is read whole.
 * From a longer one only the newest answer is read.
 */
const WHOLE = 4 * MB
/** Maximum number of bytes in one read. A longer unread part is skipped up to the file's end. */
const CATCH_UP = 64 * MB
const LONGEST_LINE = 8 * MB
/** Maximum distance from the end of the file in which the newest answer is searched. */
const LOOK_BACK = 64 * MB
/**
 * Number of remembered tool calls.
 * Any call of a batch proves that its answer is written, so a few are enough.
 */
const MOST_CALLS = 4

interface TranscriptOptions {
  chain: 'main' | 'subagent'
  /** Answers before this time are not counted as spent: a fork's copied history may be unmarked. */
  spentSince?: number | null
}

export interface TranscriptRead {
  observed: TranscriptEvent[]
  spend: Usage & { answers: number }
  /** Null when no transcript was readable. */
  cursor: Cursor | null
  branch: string | null
  /**
   * The session from which these answers were copied.
   * Null when the answers are the session's own, or the client did not mark them.
   */
  copiedFrom: string | null
  /** How the last failed compaction ended. Null when there was none, or one succeeded after it. */
  gaveUp: FailedCompaction | null
  /** The newest title, the user's before the client's. Null when none was read. */
  title: { text: string; by: 'client' | 'named' } | null
}

function noSpend(): Usage & { answers: number } {
  return { input: 0, cacheCreation: 0, cacheRead: 0, output: 0, answers: 0 }
}

/**
 * Reads a transcript from the cursor `from`.
 * The transcript only grows, line by line, so a read starts where the last one ended.
 * An unfinished last line is left for the next read.
 * Work and memory are bounded, whatever the file holds.
 */
export function readTranscript(path: string, from: Cursor | null, options: TranscriptOptions): TranscriptRead {
  if (from !== null && from.path === path) {
    const looked = lookAtNamedFile(path, 'this-user')
    if ('refused' in looked) return emptyTranscriptRead()
    if (from.offset === looked.size) return { ...emptyTranscriptRead(), cursor: from }
  }
  const opened = openNamedFile(path, 'this-user')
  if ('refused' in opened) return emptyTranscriptRead()
  try {
    return read(opened.fd, opened.stats.size, path, from, options)
  } catch {
    return emptyTranscriptRead()
  } finally {
    closeSync(opened.fd)
  }
}

export function emptyTranscriptRead(): TranscriptRead {
  return { observed: [], spend: noSpend(), cursor: null, branch: null, copiedFrom: null, gaveUp: null, title: null }
}

function read(fd: number, size: number, path: string, from: Cursor | null, options: TranscriptOptions): TranscriptRead {
  const goesOn = from !== null && from.path === path && from.offset <= size
  const start = goesOn ? from.offset : 0
  // A file that shrank or was replaced has been counted already.
  // Read only its newest answer, with stamps above the old ones.
  const base = goesOn || from === null ? (from?.base ?? 0) : (from.base ?? 0) + from.offset
  const tooMuch = goesOn ? size - start > CATCH_UP : from !== null || size > WHOLE
  const gather = new Gathering(base, from, options.spentSince ?? null)
  const skipped = goesOn ? (from.skipped ?? 0) : 0
  if (!tooMuch) {
    const scanned = scanLines(
      fd,
      start,
      size,
      { longestLine: LONGEST_LINE, midLine: goesOn && from.midLine === true },
      (buffer, s, e, at) => {
        if (mayHoldMeasurement(buffer, s, e))
          gather.add(readTranscriptLine(buffer.toString('utf8', s, e), options.chain), at)
      },
    )
    return gather.done(path, scanned, skipped)
  }
  const newest: [TranscriptLine, number][] = []
  const end = scanLinesBackwards(
    fd,
    size,
    { longestLine: LONGEST_LINE, most: Math.min(LOOK_BACK, size - start) },
    (buffer, s, e, at) => {
      if (at < start || !mayHoldMeasurement(buffer, s, e)) return at < start
      const line = readTranscriptLine(buffer.toString('utf8', s, e), options.chain)
      if (line !== null && line.type !== 'gave-up' && line.type !== 'title') newest.push([line, at])
      // A compaction boundary is reported with the refusal before it, so read one more line.
      return line?.type === 'answer' || newest.length > 1
    },
  )
  for (const [line, at] of keepNewest(newest)) gather.add(line, at)
  const scanned = end !== null ? { next: end, midLine: false } : withoutLines(start, size)
  return gather.done(path, scanned, skipped + scanned.next - start)
}

/** Returns the position after one unfinished line. The line is kept unless it is too long. */
function withoutLines(start: number, size: number): ScanEnd {
  return size - start > LONGEST_LINE ? { next: size, midLine: true } : { next: start, midLine: false }
}

/**
 * Selects the newest answer or compaction boundary from lines in reverse order.
 * A refusal that explains the boundary is kept with it.
 */
function keepNewest(met: [TranscriptLine, number][]): [TranscriptLine, number][] {
  const stop = met.findIndex(([line]) => line.type !== 'refusal')
  if (stop < 0) return met.reverse()
  const before = met[stop + 1]
  const explained = met[stop]?.[0].type === 'compaction' && before?.[0].type === 'refusal' ? stop + 2 : stop + 1
  return met.slice(0, explained).reverse()
}

/** Collects what lines contain. Each answer counts once, however many lines repeat it. */
class Gathering {
  readonly observed: TranscriptEvent[] = []
  readonly spend = noSpend()
  private branch: string | null = null
  private copiedFrom: string | null = null
  private gaveUp: FailedCompaction | null = null
  private title: TranscriptRead['title'] = null
  private refused: boolean
  private answerId: string | null
  private calls: string[]
  private readonly seen = new Set<string>()
  private last: { id: string; output: number; counted: boolean } | null = null

  constructor(
    private readonly base: number,
    from: Cursor | null,
    private readonly spentSince: number | null,
  ) {
    this.refused = from?.refused === true
    this.answerId = from?.answerId ?? null
    this.calls = from?.calls ?? []
    if (this.answerId !== null) this.seen.add(this.answerId)
  }

  add(line: TranscriptLine | null, offset: number): void {
    if (line === null) return
    if (line.type === 'title') {
      if (line.by === 'named' || this.title?.by !== 'named') this.title = { text: line.text, by: line.by }
      return
    }
    if (line.type === 'refusal' || line.type === 'gave-up') {
      this.gaveUp = line.type === 'refusal' ? 'stopped' : line.how
      this.refused ||= line.type === 'refusal'
      return
    }
    this.branch = line.branch ?? this.branch
    if (line.type === 'compaction') {
      const { trigger, before, after, durationMs } = line
      this.observed.push({
        type: 'compaction',
        trigger,
        before,
        after,
        durationMs,
        overflow: this.refused && trigger === 'auto',
        offset,
      })
      this.refused = false
      this.gaveUp = null
    } else this.answer(line, offset)
  }

  private answer(line: TranscriptLine & { type: 'answer' }, offset: number): void {
    const { id, measured } = line
    if (line.calls.length > 0)
      this.calls = [...(id === this.answerId ? this.calls : []), ...line.calls].slice(-MOST_CALLS)
    if (id !== null && this.seen.has(id)) {
      this.finishOutput(id, measured.spent.output)
      return
    }
    if (id !== null) this.seen.add(id)
    this.answerId = id
    this.refused = false
    const reading: Reading = {
      used: measured.used,
      usage: measured.usage,
      exact: measured.exact,
      model: line.model,
      source: 'transcript',
      answerId: id,
      stamp: this.base + offset,
    }
    this.observed.push({ type: 'answer', reading, offset })
    const own = this.spentSince === null || line.at === null || line.at >= this.spentSince
    const counted = own && line.copiedFrom === null
    this.copiedFrom = line.copiedFrom ?? this.copiedFrom
    this.last = id === null ? null : { id, output: measured.spent.output, counted }
    if (!counted) return
    this.spend.answers++
    for (const key of ['input', 'cacheCreation', 'cacheRead', 'output'] as const) this.spend[key] += measured.spent[key]
  }

  /**
   * Completes the output count of an answer.
   * A client that writes lines of a streaming answer has the final count on the last line.
   */
  private finishOutput(id: string, output: number): void {
    if (this.last?.id !== id || output <= this.last.output) return
    if (this.last.counted) this.spend.output += output - this.last.output
    this.last.output = output
  }

  done(path: string, scanned: ScanEnd, skipped: number): TranscriptRead {
    const cursor: Cursor = { path, offset: scanned.next }
    if (this.answerId !== null) cursor.answerId = this.answerId
    if (this.calls.length > 0) cursor.calls = this.calls
    if (this.base > 0) cursor.base = this.base
    if (scanned.midLine) cursor.midLine = true
    if (this.refused) cursor.refused = true
    if (skipped > 0) cursor.skipped = skipped
    const { observed, spend, branch, copiedFrom, gaveUp, title } = this
    return { observed, spend, cursor, branch, copiedFrom, gaveUp, title }
  }
}
