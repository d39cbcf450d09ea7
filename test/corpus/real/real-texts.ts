import { readFileSync } from 'node:fs'
import { transcriptReaders } from '../../../src/agents/readers.js'
import { textOfEntry } from '../../../src/archive/search/entry-text.js'
import { writeBriefByCode } from '../../../src/briefs/mechanical-brief.js'
import { firstRecoveryText, reportLoss, secondRecoveryText } from '../../../src/compaction/recovery.js'
import { DEFAULT_AGENT } from '../../../src/contract/agent-ids.js'
import type { Fact } from '../../../src/contract/fact.js'
import { type ReadFacts, readFacts } from '../../../src/engine/compaction/read-facts.js'
import { factWeight } from '../../../src/facts/rank.js'

/** The texts that a successor would get from a session. Null where the session has no such text. */
export interface SessionTexts {
  end: ReadFacts
  briefAtBoundary: string | null
  briefAtEnd: string
  /** The client's own summary at the boundary. Null when the boundary is no compaction. */
  summary: string | null
  recovery: string | null
  /** Facts that the loss report names at the boundary. Empty when there is no summary. */
  lost: Fact[]
}

/** Number of last lines before a compaction that count as kept. */
const LIKELY_KEPT = 12

/**
 * Writes every text of a session as the engine does, with `boundary` as the last line before it.
 */
export function textsOf(file: string, boundary: number | null): SessionTexts {
  const end = factsUpTo(file, null)
  const briefAtEnd = briefOf(end)
  if (boundary === null) return { end, briefAtBoundary: null, briefAtEnd, summary: null, recovery: null, lost: [] }
  const before = factsUpTo(file, boundary)
  const briefAtBoundary = briefOf(before)
  const summary = summaryNear(file, boundary)
  if (summary === null) return { end, briefAtBoundary, briefAtEnd, summary, recovery: null, lost: [] }
  const { facts, sinceLine, lines } = before
  const first = firstRecoveryText(facts, { brief: null, archived: true })
  const keptLines = Array.from({ length: LIKELY_KEPT }, (_, i) => lines - i)
  const { lost } = reportLoss(facts, { summary, kept: '', keptLines, sinceLine })
  const lastRequest = facts.reduce((last, { kind, line }) => (kind === 'request' ? Math.max(last, line) : last), 0)
  const second = secondRecoveryText(lost, first.keys, (fact) => factWeight(fact, lastRequest))
  return { end, briefAtBoundary, briefAtEnd, summary, recovery: `${first.text}\n\n${second.text}`, lost }
}

function briefOf(read: ReadFacts): string {
  return writeBriefByCode(read.facts, null, { lastAnswer: read.lastAnswer })
}

/** A summary that the client wrote in a session. */
export interface WrittenSummary {
  /** Line of the compaction. */
  line: number
  text: string
}

/** Returns all summaries of a session, oldest first. */
export function summariesOf(file: string): WrittenSummary[] {
  const found: WrittenSummary[] = []
  transcriptReaders[DEFAULT_AGENT]!.conversation(file, {
    withoutFiles: true,
    onEntry: (entry) => {
      if (entry.kind === 'compacted' && entry.summary !== null) found.push({ line: entry.line, text: entry.summary })
    },
  })
  return found
}

/** Losses that the report names at a compaction, and the text that the agent still sees. */
export interface NamedLosses {
  lost: Fact[]
  /** The summary and the last lines before it, which the client keeps. */
  remaining: string
}

/** Compares a summary with the facts before it as the engine does. */
export function lossesAt(file: string, { line, text: summary }: WrittenSummary): NamedLosses {
  const { facts, sinceLine, lines } = factsUpTo(file, line)
  const keptLines = Array.from({ length: LIKELY_KEPT }, (_, i) => lines - i)
  const { lost } = reportLoss(facts, { summary, kept: '', keptLines, sinceLine })
  const tail: string[] = []
  transcriptReaders[DEFAULT_AGENT]!.conversation(file, {
    withoutFiles: true,
    onEntry: (entry) => {
      if (entry.line < line && entry.line >= line - LIKELY_KEPT) tail.push(textOfEntry(entry)?.text ?? '')
    },
  })
  return { lost, remaining: `${summary}\n${tail.join('\n')}` }
}

/** Returns the bytes of a transcript before a line. */
export const bytesBefore = (file: string, line: number): Buffer =>
  readFileSync(file).subarray(0, offsetOfLine(file, line))

/** Reads the facts of a transcript, up to and without the line `before` when it is given. */
export function factsUpTo(file: string, before: number | null): ReadFacts {
  const read = readFacts(
    transcriptReaders,
    DEFAULT_AGENT,
    file,
    before === null ? {} : { bytes: offsetOfLine(file, before) },
  )
  if (read.trouble !== null) throw new Error(`${file}: ${read.trouble}`)
  return read
}

function offsetOfLine(file: string, line: number): number {
  const bytes = readFileSync(file)
  let offset = 0
  for (let number = 1; number < line; number++) {
    const end = bytes.indexOf(10, offset)
    if (end < 0) return bytes.length
    offset = end + 1
  }
  return offset
}

/** Lines behind a boundary in which the summary stands. */
const NEAR = 10

function summaryNear(file: string, boundary: number): string | null {
  let found: string | null = null
  transcriptReaders[DEFAULT_AGENT]!.conversation(file, {
    withoutFiles: true,
    onEntry: (entry) => {
      if (entry.kind === 'compacted' && Math.abs(entry.line - boundary) <= NEAR) found ??= entry.summary
    },
  })
  return found
}
