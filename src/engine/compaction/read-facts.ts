import type { TranscriptReader } from '../../agents/transcript-reader.js'
import type { Repository } from '../../briefs/mechanical-brief.js'
import type { Fact } from '../../contract/fact.js'
import { startFacts } from '../../facts/facts.js'
import { keyOf } from '../../facts/key-of.js'
import { rankFacts } from '../../facts/rank.js'
import { sizeOf } from '../../lib/growing-file.js'
import { copyFacts, type FactsPlace, type KeptFacts, loadFacts, saveFacts } from './kept-facts.js'

/** What a transcript told up to a size. */
export interface ReadFacts {
  /** Ranked, most needed first. */
  facts: Fact[]
  /** Last line an earlier compaction replaced; 0: none did. */
  sinceLine: number
  lines: number
  /** What the agent said last; null: nothing, or not known. */
  lastAnswer: string | null
  /** How far it was read from its beginning, in bytes. */
  reached: number
  /** False: there was no time for all of it. The facts are those of the beginning and of the end; nothing can be compared with them. */
  whole: boolean
  /** null: all was read. */
  trouble: string | null
  /** Whose transcript it was; absent: that of the session the signal speaks of. */
  sessionId?: string
  /** The repository, where it was looked at in the same breath. */
  repository?: Repository | null
}

/** What a hook may read itself: about a fifth of a second of work. Longer transcripts are read by a process nobody waits for. */
export const READ_AT_ONCE = 16 * 1024 * 1024
/** A brief and a report name a few hundred at most. */
const MOST_KEPT = 1_500

/** Characters of all of them together, and of one: a pasted log is a request too. */
const MOST_TEXT = 1_000_000
const LONGEST_TEXT = 100_000
const LONGEST_ANSWER = 20_000

/** Where there was no time for the whole, how much of the end is read. */
const TAIL = 2 * 1024 * 1024

/** By the agent's id. */
export type Readers = Readonly<Record<string, TranscriptReader>>

/** A session's facts between two looks. */
export interface Keeping {
  place: FactsPlace
  sessionId: string
  /** What was read is kept for the next look once it is so many bytes more. null: never, because somebody waits. */
  every: number | null
}

export interface ReadLimits {
  /** Bytes beyond these are not looked at. */
  bytes?: number | undefined
  /** It gives up after so long. Absent: it takes its time. */
  withinMs?: number
  /** Goes on from what was kept. Absent: it begins at the beginning. */
  keeping?: Keeping | undefined
}

const NOTHING: ReadFacts = {
  facts: [],
  sinceLine: 0,
  lines: 0,
  lastAnswer: null,
  reached: 0,
  whole: true,
  trouble: null,
}

export function readFacts(readers: Readers, agent: string, transcript: string | null, limits: ReadLimits): ReadFacts {
  const { bytes, withinMs, keeping } = limits
  const reader = readers[agent]
  if (transcript === null || !reader) return { ...NOTHING, trouble: 'no transcript is known' }
  const before = keeping ? loadUpTo(keeping, transcript, bytes) : null
  const facts = startFacts(before?.facts)
  let sinceLine = before?.sinceLine ?? 0
  let lastAnswer = before?.lastAnswer ?? null
  let copy: { offset: number; state: Buffer } | null = null
  const { problem, offset, lines, gaveUp } = reader.conversation(transcript, {
    withoutFiles: true,
    ...(before === null ? {} : { from: { offset: before.offset, lines: before.lines, state: before.reader } }),
    ...(bytes === undefined ? {} : { to: bytes }),
    ...(withinMs === undefined ? {} : { withinMs }),
    onEntry(entry) {
      if (entry.kind === 'compacted') sinceLine = entry.line
      else if (entry.kind === 'said' && entry.by === 'agent') lastAnswer = entry.text.slice(-LONGEST_ANSWER)
      facts.add(entry)
    },
    onReached(reached) {
      const every = keeping?.every ?? null
      if (every === null || reached.offset - (before?.offset ?? 0) < every) return
      const { offset: at, lines: count, state: remembered } = reached
      const state = copyFacts({
        offset: at,
        lines: count,
        sinceLine,
        lastAnswer,
        reader: remembered,
        facts: facts.state(),
      })
      if (state !== null) copy = { offset: at, state }
    },
  })
  if (copy !== null && keeping) keep(keeping, transcript, copy)
  const told = facts.facts()
  const end = gaveUp ? endOf(reader, transcript, { bytes, offset, lines }) : null
  return {
    facts: bounded(rankFacts(end === null ? told : joined(told, end.facts))),
    sinceLine,
    lines,
    lastAnswer: end === null ? lastAnswer : end.lastAnswer,
    reached: offset,
    whole: !gaveUp,
    trouble: problem === null ? null : `the transcript could not be read (${problem})`,
  }
}

/** What was kept beyond `bytes` tells of what came later. */
function loadUpTo({ place, sessionId }: Keeping, transcript: string, bytes: number | undefined): KeptFacts | null {
  const kept = loadFacts(place, sessionId, transcript)
  return kept === null || (bytes !== undefined && kept.offset > bytes) ? null : kept
}

/** Facts that cannot be kept are read again: that costs time and nothing else. */
function keep({ place, sessionId }: Keeping, transcript: string, copy: { offset: number; state: Buffer }): void {
  try {
    saveFacts(place, sessionId, transcript, copy.offset, copy.state)
  } catch {
    return
  }
}

/** How things stand at the end of a transcript that could not be read whole in time. */
function endOf(
  reader: TranscriptReader,
  transcript: string,
  { bytes, offset, lines }: { bytes: number | undefined; offset: number; lines: number },
): { facts: Fact[]; lastAnswer: string | null } {
  const size = Math.min(bytes ?? Number.POSITIVE_INFINITY, sizeOf(transcript))
  const facts = startFacts()
  let lastAnswer: string | null = null
  reader.conversation(transcript, {
    withoutFiles: true,
    from: { offset: Math.max(offset, size - TAIL), lines: lines + 1 },
    to: size,
    onEntry(entry) {
      if (entry.kind === 'said' && entry.by === 'agent') lastAnswer = entry.text.slice(-LONGEST_ANSWER)
      facts.add(entry)
    },
  })
  return { facts: facts.facts(), lastAnswer }
}

/** Of the beginning only what lasts: how the rest stands at the end is not certain. */
const LASTING = new Set<Fact['kind']>(['request', 'constraint', 'decision', 'commit'])

function joined(beginning: readonly Fact[], end: readonly Fact[]): Fact[] {
  const known = new Set(end.map(keyOf))
  const hasRequest = end.some(({ kind }) => kind === 'request')
  const lasting = beginning.filter(
    (fact) => !known.has(keyOf(fact)) && (LASTING.has(fact.kind) || (fact.kind === 'file' && fact.state === 'changed')),
  )
  return [...lasting.map((fact) => (hasRequest && fact.detail.last ? { ...fact, detail: {} } : fact)), ...end]
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
