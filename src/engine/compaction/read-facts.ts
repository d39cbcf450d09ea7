import type { TranscriptReader } from '../../agents/transcript-reader.js'
import type { Repository } from '../../briefs/mechanical-brief.js'
import type { Fact } from '../../contract/fact.js'
import { factKey } from '../../facts/fact-key.js'
import { startFacts } from '../../facts/facts.js'
import { rankFacts } from '../../facts/rank.js'
import { fileSize } from '../../lib/growing-file.js'
import { type FactsStorage, type KeptFacts, loadFacts, saveFacts, serializeFacts } from './kept-facts.js'

/** Facts of a transcript up to a size limit. */
export interface ReadFacts {
  /** Facts by importance, most important first. */
  facts: Fact[]
  /** Last line that an earlier compaction replaced by its summary. 0 when none did. */
  sinceLine: number
  lines: number
  /** The agent's last text in the conversation. Null when there is none or it is unknown. */
  lastAnswer: string | null
  /** Bytes read from the beginning of the transcript. */
  reached: number
  /**
   * False when time ran out before the whole transcript was read.
   * The facts are then only from the beginning and the end, so nothing can be compared with them.
   */
  whole: boolean
  /** Reason why reading failed. Null when it did not. */
  trouble: string | null
  /** Id of the transcript's session. Absent when it is the session of the signal. */
  sessionId?: string
  /** The repository, if it was read at the same time. */
  repository?: Repository | null
}

/**
 * Most bytes that a hook reads itself, about 0.2 seconds. A background process reads longer ones.
 */
export const MAX_HOOK_READ_BYTES = 16 * 1024 * 1024
/** Most facts in a record. A brief and a loss report name a few hundred at most. */
const MOST_KEPT = 1_500

/** Most characters of all facts together, and of one fact. A user may paste a log as a request. */
const MOST_TEXT = 1_000_000
const LONGEST_TEXT = 100_000
const LONGEST_ANSWER = 20_000

/** Bytes read from the end of the transcript when time ran out. */
const TAIL = 2 * 1024 * 1024

/** Transcript readers by agent id. */
export type TranscriptReaders = Readonly<Record<string, TranscriptReader>>

/** Place where a session's facts are kept between two reads, and how often they are stored. */
export interface FactStorage {
  place: FactsStorage
  sessionId: string
  /** Bytes after which newly read facts are stored. Null to store none, because a caller waits. */
  every: number | null
}

interface ReadLimits {
  /** Number of bytes to read at most. Absent to read the whole transcript. */
  bytes?: number | undefined
  /** Number of milliseconds to read at most. Absent for no limit. */
  withinMs?: number
  /** Facts kept from an earlier read, to continue from. Absent to start at the beginning. */
  keeping?: FactStorage | undefined
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

export function readFacts(
  readers: TranscriptReaders,
  agent: string,
  transcript: string | null,
  limits: ReadLimits,
): ReadFacts {
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
      const state = serializeFacts({
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
  if (copy !== null && keeping) keepFacts(keeping, transcript, copy)
  const told = facts.facts()
  const end = gaveUp ? readEnd(reader, transcript, { bytes, offset, lines }) : null
  return {
    facts: limitFacts(rankFacts(end === null ? told : joinFacts(told, end.facts))),
    sinceLine,
    lines,
    lastAnswer: end === null ? lastAnswer : end.lastAnswer,
    reached: offset,
    whole: !gaveUp,
    trouble: problem === null ? null : `the transcript could not be read (${problem})`,
  }
}

/** Loads kept facts. Null when they include work beyond `bytes`, which came later. */
function loadUpTo({ place, sessionId }: FactStorage, transcript: string, bytes: number | undefined): KeptFacts | null {
  const kept = loadFacts(place, sessionId, transcript)
  return kept === null || (bytes !== undefined && kept.offset > bytes) ? null : kept
}

/** Stores facts for the next read. A failure is ignored: reading them again costs only time. */
function keepFacts(
  { place, sessionId }: FactStorage,
  transcript: string,
  copy: { offset: number; state: Buffer },
): void {
  try {
    saveFacts(place, sessionId, transcript, copy.offset, copy.state)
  } catch {
    return
  }
}

/** Reads the end of a transcript that could not be read whole in time. */
function readEnd(
  reader: TranscriptReader,
  transcript: string,
  { bytes, offset, lines }: { bytes: number | undefined; offset: number; lines: number },
): { facts: Fact[]; lastAnswer: string | null } {
  const size = Math.min(bytes ?? Number.POSITIVE_INFINITY, fileSize(transcript))
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

/** Kinds of facts from the beginning that stay valid. Others may have changed by the end. */
const LASTING = new Set<Fact['kind']>(['request', 'constraint', 'decision', 'commit'])

function joinFacts(beginning: readonly Fact[], end: readonly Fact[]): Fact[] {
  const known = new Set(end.map(factKey))
  const hasRequest = end.some(({ kind }) => kind === 'request')
  const lasting = beginning.filter(
    (fact) =>
      !known.has(factKey(fact)) && (LASTING.has(fact.kind) || (fact.kind === 'file' && fact.state === 'changed')),
  )
  return [...lasting.map((fact) => (hasRequest && fact.detail.last ? { ...fact, detail: {} } : fact)), ...end]
}

/** Returns the most important facts, up to the size limits of a record. */
function limitFacts(ranked: readonly Fact[]): Fact[] {
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
