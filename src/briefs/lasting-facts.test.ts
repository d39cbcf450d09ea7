import { describe, expect, test } from 'vitest'
import { aFact } from '../testing/sample-fact.js'
import { mechanicalBrief } from './mechanical-brief.js'
import { lastingFacts, neededFacts } from './needed-facts.js'

const texts = (facts: readonly { text: string }[]) => facts.map(({ text }) => text)

describe('what holds on beyond a session', () => {
  const facts = [
    aFact('request', 'Write an offer for each item.', { line: 2 }),
    aFact('constraint', 'Never change prices.csv.', { line: 2, state: 'forbidden' }),
    aFact('file', 'offers.txt', { line: 5 }),
    aFact('decision', 'Offers in euros, because the shop sells there.', { line: 6 }),
    aFact('request', 'And translate them.', { line: 9 }),
    aFact('request', '[baton] Continue the work from brief 1', { line: 12 }),
    aFact('todo', 'translate', { line: 13 }),
  ]

  test('are the first and the last request, constraints and decisions; not what Baton said, nor what is done meanwhile', () => {
    expect(texts(lastingFacts(facts))).toEqual([
      'Write an offer for each item.',
      'And translate them.',
      'Never change prices.csv.',
      'Offers in euros, because the shop sells there.',
    ])
    expect(lastingFacts(facts).every(({ line }) => line === 0)).toBe(true)
  })

  test('a session that was asked nothing itself is measured by them, and its brief by code tells them', () => {
    const held = lastingFacts(facts)
    const own = [
      aFact('request', '[baton] Continue the work from brief 1', { line: 1 }),
      aFact('file', 'de.txt', { line: 3 }),
    ]
    expect(texts(neededFacts([...held, ...own]).map(({ fact }) => fact))).toEqual(
      expect.arrayContaining(['And translate them.', 'Never change prices.csv.', 'de.txt']),
    )
    const brief = mechanicalBrief([...held, ...own], null)
    for (const part of ['> And translate them.', '> Write an offer for each item.', 'Never change prices.csv.'])
      expect(brief).toContain(part)
  })

  test('a request of its own comes before those that were handed on, which stay as earlier ones', () => {
    const all = lastingFacts([...lastingFacts(facts), aFact('request', 'Stop translating.', { line: 4 })])
    expect(texts(all.filter(({ kind }) => kind === 'request'))).toEqual([
      'Write an offer for each item.',
      'Stop translating.',
    ])
  })

  test('stay few and short over any number of sessions', () => {
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
