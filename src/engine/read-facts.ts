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

/** By the agent's id. */
export type Readers = Readonly<Record<string, TranscriptReader>>

export function readFacts(readers: Readers, agent: string, transcript: string | null, bytes: number | undefined): ReadFacts {
  const reader = readers[agent]
  if (transcript === null || !reader) return { facts: [], sinceLine: 0, lines: 0, reached: 0, trouble: 'no transcript is known' }
  const facts = startFacts()
  let sinceLine = 0
  const { problem, offset, lines } = reader.conversation(transcript, {
    withoutFiles: true,
    ...(bytes === undefined ? {} : { to: bytes }),
    onEntry(entry) {
      if (entry.kind === 'compacted') sinceLine = entry.line
      facts.take(entry)
    },
  })
  return {
    facts: rankFacts(facts.facts()).slice(0, MOST_KEPT),
    sinceLine,
    lines,
    reached: offset,
    trouble: problem === null ? null : `the transcript could not be read (${problem})`,
  }
}
