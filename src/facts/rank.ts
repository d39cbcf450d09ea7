import type { Fact } from '../contract/fact.js'

/**
 * Sorts facts by how much further work depends on them; equal ones newest first.
 * Open facts come before settled ones, and constraints before facts about one step.
 * Facts that can be looked up again (files read, successful commands) come last.
 * The given list is not changed.
 */
export function rankFacts(facts: readonly Fact[]): Fact[] {
  const lastRequest = facts.reduce((last, fact) => (fact.kind === 'request' ? Math.max(last, fact.line) : last), 0)
  return facts
    .map((fact, i) => ({ fact, i, weight: factWeight(fact, lastRequest) }))
    .sort((a, b) => b.weight - a.weight || b.fact.line - a.fact.line || a.i - b.i)
    .map(({ fact }) => fact)
}

/** Returns the weight of a fact, from 0 (nothing depends on it) to 100. */
export function factWeight(fact: Fact, lastRequestLine: number): number {
  switch (fact.kind) {
    case 'request':
      return fact.line === lastRequestLine ? 100 : 45
    case 'constraint':
      return fact.state === 'forbidden' ? 95 : 92
    case 'todo':
      return fact.state === 'open' ? (fact.detail.doing === true ? 94 : 90) : fact.state === 'done' ? 25 : 15
    case 'question':
      return fact.state === 'open' ? 85 : 20
    case 'test':
      return fact.state === 'failed' ? 82 : 30
    case 'file':
      return fact.state === 'changed' ? 75 : 12
    case 'decision':
      return 70
    case 'error':
      return fact.detail.overcome === true ? 22 : 60
    case 'finding':
      return fact.detail.ends === true ? 35 : 32
    case 'branch':
      return 58
    case 'commit':
      return 55
    case 'command':
      return fact.state === 'failed' || fact.state === 'running' ? 50 : 10
  }
}
