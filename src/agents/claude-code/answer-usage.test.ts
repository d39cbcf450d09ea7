import { expect, test } from 'vitest'
import type { AnswerUsage } from '../agent.js'
import { measureAnswer } from './sdk-report.js'

test('input and cache fill the window, and output does not', () => {
  const { reading, spend } = measureAnswer({
    input_tokens: 8,
    output_tokens: 500,
    cache_creation: 15_000,
    cache_read: 110_000,
  })
  expect(reading).toMatchObject({ used: 125_008, source: 'sdk', exact: true, answerId: null })
  expect(spend).toEqual({ input: 8, output: 500, cacheCreation: 15_000, cacheRead: 110_000, answers: 1 })
})

test('the usage object of the API is accepted unchanged, with its cache names, nulls and details', () => {
  const usage = {
    input_tokens: 8,
    output_tokens: 1,
    cache_creation_input_tokens: 15_000,
    cache_read_input_tokens: null,
    cache_creation: { ephemeral_5m_input_tokens: 15_000, ephemeral_1h_input_tokens: 0 },
    service_tier: 'standard',
  }
  expect(measureAnswer(usage).reading?.used).toBe(15_008)
})

test('the last of several iterations fills the window, and all of them count as spent', () => {
  const iterations = [
    { input_tokens: 10, cache_read_input_tokens: 20_000, output_tokens: 5 },
    { input_tokens: 20, cache_read_input_tokens: 30_000, output_tokens: 6 },
  ]
  const usage = { input_tokens: 30, output_tokens: 11, cache_read_input_tokens: 50_000, iterations }
  const { reading, spend } = measureAnswer(usage)
  expect([reading?.used, spend.cacheRead, spend.output]).toEqual([30_020, 50_000, 11])
})

test('an answer without input says nothing about the window, but is counted', () => {
  expect(measureAnswer({ input_tokens: 0, output_tokens: 7 })).toEqual({
    reading: null,
    spend: { input: 0, output: 7, cacheCreation: 0, cacheRead: 0, answers: 1 },
  })
})

const whole = { input_tokens: 1, output_tokens: 1 }

test.each<[string, object]>([
  ['negative', { input_tokens: -1 }],
  ['fractional', { output_tokens: 1.5 }],
  ['NaN', { cache_read: Number.NaN }],
  ['endless', { cache_creation: Number.POSITIVE_INFINITY }],
  ['beyond what counts exactly', { input_tokens: 2 ** 53 }],
  ['negative under the name of the API', { cache_read_input_tokens: -1 }],
  ['told twice and differently', { cache_read: 5, cache_read_input_tokens: 6 }],
])('a count that is %s is refused as out of range', (_, wrong) => {
  expect(() => measureAnswer({ ...whole, ...wrong })).toThrow(RangeError)
})

test.each<[string, unknown]>([
  ['a string', { ...whole, input_tokens: '5' }],
  ['missing', { input_tokens: 5 }],
  ['null', { ...whole, output_tokens: null }],
  ['nothing at all', undefined],
])('a count that is %s is refused as no count', (_, wrong) => {
  expect(() => measureAnswer(wrong as AnswerUsage)).toThrow(TypeError)
})

test('the error for a wrong count names the count and its value', () => {
  expect(() => measureAnswer({ ...whole, cache_read: -3 })).toThrow(
    'cache_read must be a whole number of tokens, not negative: -3',
  )
})
