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

/** Where facts are kept between two looks at a transcript, and which program keeps them: another one's are read anew. */
export interface FactsPlace {
  folder: string
  program: string
}

/** How far a transcript was read, and everything remembered of it: reading goes on from here. */
export interface KeptFacts {
  offset: number
  lines: number
  /** Last line a compaction replaced; 0: none did. */
  sinceLine: number
  /** What the agent said last; null: nothing yet. */
  lastAnswer: string | null
  /** What the reader remembers. */
  reader: unknown
  facts: FactsState
}

/** null: nothing is kept of this session, or not of this transcript as it is now, or it cannot be read. */
export function loadFacts(place: FactsPlace, sessionId: string, transcript: string): KeptFacts | null {
  return (loadState(memoryOf(place, sessionId), transcript)?.state as KeptFacts | undefined) ?? null
}

/** How far the facts that are kept reach; 0: none are that could be used. */
export function keptOffset(place: FactsPlace, sessionId: string, transcript: string): number {
  return loadOffset(memoryOf(place, sessionId), transcript)
}

/** Taken at once, because whatever is read next changes it. null: there is too much of it to be kept. */
export const copyFacts = (facts: KeptFacts): Buffer | null => serializeState(facts)

export function saveFacts(
  place: FactsPlace,
  sessionId: string,
  transcript: string,
  offset: number,
  copy: Buffer,
): void {
  storeState(memoryOf(place, sessionId), transcript, offset, copy)
}

export const hasFacts = (folder: string, sessionId: string): boolean => hasState({ folder, name: sessionId })

/** What was kept of a session is quoted from its transcript. */
export function forgetFacts(folder: string, sessionId: string): void {
  removeState({ folder, name: sessionId })
}

function memoryOf({ folder, program }: FactsPlace, sessionId: string): StateFile {
  return { folder, name: sessionId, format: `1 ${FACTS_FORMAT} ${program}` }
}
