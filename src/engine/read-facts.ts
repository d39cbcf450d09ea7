import type { TranscriptReader } from '../agents/transcript-reader.js'
import type { Fact } from '../contract/fact.js'
import { startFacts } from '../facts/facts.js'
import { rankFacts } from '../facts/rank.js'

/** What a transcript told up to a size. */
export interface ReadFacts {
  /** Ranked, most needed first. */
  facts: Fact[]
  /** Last line an earlier compaction replaced; 0: none did. */
  sinceLine: number
  lines: number
  /** How far it was read, in bytes. */
  reached: number
  /** null: all was read. */
  trouble: string | null
}

/** What a hook may read itself: about a fifth of a second of work. Longer transcripts are read by a process nobody waits for. */
export const READ_AT_ONCE = 16 * 1024 * 1024
/** A brief and a report name a few hundred at most. */
const MOST_KEPT = 1_500

/** Characters of all of them together, and of one: a pasted log is a request too. */
const MOST_TEXT = 1_000_000
const LONGEST_TEXT = 100_000

/** By the agent's id. */
export type Readers = Readonly<Record<string, TranscriptReader>>

export interface ReadLimits {
  /** Bytes beyond these are not looked at. */
  bytes?: number | undefined
  /** It gives up after so long, having read nothing as far as others are concerned. Absent: it takes its time. */
  withinMs?: number
}

export function readFacts(readers: Readers, agent: string, transcript: string | null, limits: ReadLimits): ReadFacts {
  const { bytes, withinMs } = limits
  const reader = readers[agent]
  if (transcript === null || !reader) return { facts: [], sinceLine: 0, lines: 0, reached: 0, trouble: 'no transcript is known' }
  const facts = startFacts()
  let sinceLine = 0
  const { problem, offset, lines, gaveUp } = reader.conversation(transcript, {
    withoutFiles: true,
    ...(bytes === undefined ? {} : { to: bytes }),
    ...(withinMs === undefined ? {} : { withinMs }),
    onEntry(entry) {
      if (entry.kind === 'compacted') sinceLine = entry.line
      facts.take(entry)
    },
  })
  if (gaveUp) return { facts: [], sinceLine: 0, lines: 0, reached: 0, trouble: null }
  return {
    facts: bounded(rankFacts(facts.facts())),
    sinceLine,
    lines,
    reached: offset,
    trouble: problem === null ? null : `the transcript could not be read (${problem})`,
  }
}

/** The most needed of them, as much as a record should hold. */
function bounded(ranked: readonly Fact[]): Fact[] {
  let length = 0
  const facts: Fact[] = []
  for (const fact of ranked.slice(0, MOST_KEPT)) {
    const text = fact.text.length > LONGEST_TEXT ? `${fact.text.slice(0, LONGEST_TEXT)}…` : fact.text
    length += text.length
    if (length > MOST_TEXT) break
    facts.push(text === fact.text ? fact : { ...fact, text })
  }
  return facts
}
