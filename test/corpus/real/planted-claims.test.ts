import { expect, test } from 'vitest'
import { load } from '../load.js'
import { plantClaims, scoreClaims } from './planted-claims.js'
import { textsOf } from './real-texts.js'

test('false claims planted into briefs of our transcripts are marked, and true sentences are not', () => {
  const scores = load('seen').map(({ file, labels }, at) => {
    const { end, briefAtEnd } = textsOf(file, null)
    return scoreClaims(briefAtEnd, [], plantClaims(end.facts, labels.language === 'ja', at + 1), end.facts, file)
  })
  const sum = (of: (score: (typeof scores)[number]) => number): number => scores.reduce((all, one) => all + of(one), 0)
  const [planted, truths] = [sum((one) => one.planted), sum((one) => one.truths)]
  expect(planted).toBeGreaterThan(100)
  expect(sum((one) => one.found) / planted, scores.flatMap(({ missed }) => missed).join('\n')).toBeGreaterThan(0.9)
  const sentences = scores.flatMap(({ contradicted, unproven }) => [...contradicted, ...unproven])
  expect(sum((one) => one.contradicted.length) / truths, JSON.stringify(sentences)).toBeLessThanOrEqual(0.005)
  expect(sum((one) => one.unproven.length) / truths, JSON.stringify(sentences)).toBeLessThanOrEqual(0.05)
})
