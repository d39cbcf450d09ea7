import type { Fact, FactKind } from '../contract/fact.js'
import type { CompactionRecord } from '../contract/loss.js'

/** For tests: a fact of a kind, as the transcript would give it. */
export function aFact(kind: FactKind, text: string, change: Partial<Fact> = {}): Fact {
  return { kind, text, line: 10, at: null, state: STATES[kind] ?? null, detail: {}, ...change }
}

const STATES: Partial<Record<FactKind, Fact['state']>> = {
  constraint: 'required',
  file: 'changed',
  command: 'ok',
  test: 'failed',
  todo: 'open',
  question: 'open',
}

/** For tests: a compaction that is over, with nothing lost. */
export function aCompaction(change: Partial<CompactionRecord> = {}): CompactionRecord {
  return {
    sessionId: 'd76d6c4d-ef1f-4334-9716-3be98836406b',
    startedAt: '2026-03-01T11:30:00.000Z',
    trigger: 'auto',
    transcriptPath: null,
    bytes: 1000,
    lines: 40,
    archiveId: 'a1',
    sinceLine: 0,
    facts: [],
    trouble: null,
    loss: { total: 0, kept: 0, byKind: {}, lost: [] },
    first: null,
    second: null,
    ...change,
  }
}
