import { describe, expect, test } from 'vitest'
import { aFact } from '../testing/sample-fact.js'
import { writeBriefByCode } from './mechanical-brief.js'
import { lastingFacts, neededFacts } from './needed-facts.js'

const texts = (facts: readonly { text: string }[]) => facts.map(({ text }) => text)

describe('lasting facts', () => {
  const facts = [
    aFact('request', 'Write an offer for each item.', { line: 2 }),
    aFact('constraint', 'Never change prices.csv.', { line: 2, state: 'forbidden' }),
    aFact('file', 'offers.txt', { line: 5 }),
    aFact('decision', 'Offers in euros, because the shop sells there.', { line: 6 }),
    aFact('request', 'And translate them.', { line: 9 }),
    aFact('request', '[baton] Continue the work from brief 1', { line: 12 }),
    aFact('todo', 'translate', { line: 13 }),
  ]

  test("lasting facts are the first and last request, constraints and decisions, without Baton's prompts", () => {
    expect(texts(lastingFacts(facts))).toEqual([
      'Write an offer for each item.',
      'And translate them.',
      'Never change prices.csv.',
      'Offers in euros, because the shop sells there.',
    ])
    expect(lastingFacts(facts).every(({ line }) => line === 0)).toBe(true)
  })

  test('a session without its own request is measured by lasting facts, and its brief by code has them', () => {
    const held = lastingFacts(facts)
    const own = [
      aFact('request', '[baton] Continue the work from brief 1', { line: 1 }),
      aFact('file', 'de.txt', { line: 3 }),
    ]
    expect(texts(neededFacts([...held, ...own]).map(({ fact }) => fact))).toEqual(
      expect.arrayContaining(['And translate them.', 'Never change prices.csv.', 'de.txt']),
    )
    const brief = writeBriefByCode([...held, ...own], null)
    for (const part of ['> And translate them.', '> Write an offer for each item.', 'Never change prices.csv.'])
      expect(brief).toContain(part)
  })

  test('a request of the session comes before inherited ones, which stay as earlier requests', () => {
    const all = lastingFacts([...lastingFacts(facts), aFact('request', 'Stop translating.', { line: 4 })])
    expect(texts(all.filter(({ kind }) => kind === 'request'))).toEqual([
      'Write an offer for each item.',
      'Stop translating.',
    ])
  })

  test('lasting facts stay few and short over any number of sessions', () => {
    let held = facts
    for (let session = 0; session < 30; session++) {
      const said = Array.from({ length: 20 }, (_, n) =>
        aFact('constraint', `Never ${session} ${n} ${'x'.repeat(9_000)}`, { line: n + 1 }),
      )
      held = lastingFacts([...held, ...said])
    }
    expect(held.length).toBeLessThan(80)
    expect(Math.max(...held.map(({ text }) => text.length))).toBeLessThanOrEqual(4_000)
  })
})
