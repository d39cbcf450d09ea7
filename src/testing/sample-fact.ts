import type { Fact, FactKind } from '../contract/fact.js'

/** Returns a fact of a kind, as the transcript would give it. */
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
