import type { Fact } from '../contract/fact.js'
import { keyOf } from '../facts/key-of.js'
import { lastRequestOf, usersFacts } from './needed-facts.js'

const MOST_CONSTRAINTS = 60
const MOST_DECISIONS = 12
const LONGEST = 4_000

/**
 * What holds on beyond the session it was said in: the first request and the last one, what the user required and forbade, decisions. They
 * stay with its brief, so that the session after the next still hears of them in the user's words, whatever the agents between made of
 * them. They lie before everything a later session says.
 */
export function lastingFacts(all: readonly Fact[]): Fact[] {
  const facts = [...usersFacts(all)].sort((a, b) => a.line - b.line)
  const of = (kind: Fact['kind'], most: number): Fact[] => distinct(facts.filter((fact) => fact.kind === kind)).slice(-most)
  const first = facts.find(({ kind }) => kind === 'request')
  const last = lastRequestOf(facts)
  const requests = [...(first === undefined ? [] : [first]), ...(last === null || last === first ? [] : [last])]
  return [...requests, ...of('constraint', MOST_CONSTRAINTS), ...of('decision', MOST_DECISIONS)].map((fact) => ({
    ...fact,
    line: 0,
    text: fact.text.length > LONGEST ? `${fact.text.slice(0, LONGEST - 1)}…` : fact.text,
  }))
}

/** Of two that say the same the later one. */
function distinct(facts: readonly Fact[]): Fact[] {
  return [...new Map(facts.map((fact) => [keyOf(fact), fact])).values()]
}
