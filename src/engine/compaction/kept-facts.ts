import { FACTS_FORMAT, type FactsState } from '../../facts/facts.js'
import {
  hasState,
  loadOffset,
  loadState,
  removeState,
  type StateFile,
  serializeState,
  storeState,
} from '../../lib/growing-file.js'

/**
 * Folder for facts kept between two reads, and the version of this program.
 * Files of other versions are ignored.
 */
export interface FactsStorage {
  folder: string
  program: string
}

/** State of a partly read transcript, from which reading continues. */
export interface KeptFacts {
  offset: number
  lines: number
  /** Last line that a compaction replaced. 0 when none did. */
  sinceLine: number
  /** The agent's last text in the conversation. Null when the agent has written none yet. */
  lastAnswer: string | null
  /** State of the transcript reader, to continue reading. */
  reader: unknown
  facts: FactsState
}

/**
 * Loads a session's kept facts.
 * Null when there are none, they belong to a different transcript, or they cannot be read.
 */
export function loadFacts(place: FactsStorage, sessionId: string, transcript: string): KeptFacts | null {
  return (loadState(stateFileOf(place, sessionId), transcript)?.state as KeptFacts | undefined) ?? null
}

/** Returns the transcript offset up to which facts are kept. 0 when there are no usable ones. */
export function keptOffset(place: FactsStorage, sessionId: string, transcript: string): number {
  return loadOffset(stateFileOf(place, sessionId), transcript)
}

/**
 * Serializes kept facts at once, because further reading changes the objects.
 * Null when the facts are too large.
 */
export const serializeFacts = (facts: KeptFacts): Buffer | null => serializeState(facts)

export function saveFacts(
  place: FactsStorage,
  sessionId: string,
  transcript: string,
  offset: number,
  copy: Buffer,
): void {
  storeState(stateFileOf(place, sessionId), transcript, offset, copy)
}

export const hasFacts = (folder: string, sessionId: string): boolean => hasState({ folder, name: sessionId })

/** Deletes a session's kept facts, which quote its transcript. */
export function forgetFacts(folder: string, sessionId: string): void {
  removeState({ folder, name: sessionId })
}

function stateFileOf({ folder, program }: FactsStorage, sessionId: string): StateFile {
  return { folder, name: sessionId, format: `1 ${FACTS_FORMAT} ${program}` }
}
