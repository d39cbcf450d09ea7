import { expect, test } from 'vitest'
import { aFact } from '../testing/sample-fact.js'
import { factKey, namedFactCheck } from './fact-key.js'

const long = 'Never touch the tables of the shop. '.repeat(10)

test('long texts with the same beginning have different keys, wherever they differ', () => {
  const texts = [
    `${long}Not in May.`,
    `${long}Not in Mai.`,
    `${long}Not in May and June.`,
    `${long.slice(0, 250)}X${long.slice(251)}Not in May.`,
  ]
  expect(new Set(texts.map((text) => factKey(aFact('constraint', text)))).size).toBe(texts.length)
  expect(factKey(aFact('request', 'a'))).not.toBe(factKey(aFact('todo', 'a')))
})

test('a fact is found by its key and by the older key of earlier versions', () => {
  const fact = aFact('constraint', `${long}Not in May.`)
  const before = `constraint ${fact.text.slice(0, 200)} #${fact.text.length}`
  expect([namedFactCheck([factKey(fact)])(fact), namedFactCheck([before])(fact)]).toEqual([true, true])
  expect(namedFactCheck([factKey(aFact('constraint', `${long}Not in Mai.`))])(fact)).toBe(false)
  expect(namedFactCheck(['constraint Keep it.'])(aFact('constraint', 'Keep it.'))).toBe(true)
  expect(namedFactCheck(['todo Keep it.'])(aFact('constraint', 'Keep it.'))).toBe(false)
})
