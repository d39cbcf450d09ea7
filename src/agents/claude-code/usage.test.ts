import { expect, test } from 'vitest'
import { measureUsage } from './usage.js'

const counts = (input: number, creation: number, read: number, output: number) => ({
  input_tokens: input,
  cache_creation_input_tokens: creation,
  cache_read_input_tokens: read,
  output_tokens: output,
})

test('used tokens are the input and both kinds of cache, not the output', () => {
  expect(measureUsage(counts(8, 15_000, 110_000, 5_000))).toEqual({
    used: 125_008,
    usage: { input: 8, cacheCreation: 15_000, cacheRead: 110_000, output: 5_000 },
    spent: { input: 8, cacheCreation: 15_000, cacheRead: 110_000, output: 5_000 },
    exact: true,
  })
})

test('the last of several iterations counts, and all of them are spent', () => {
  const iterations = [
    { type: 'message', ...counts(10, 0, 40_000, 100) },
    { type: 'message', ...counts(20, 5_000, 40_000, 200) },
  ]
  expect(
    measureUsage({ ...counts(30, 5_000, 80_000, 300), server_tool_use: { web_search_requests: 1 }, iterations }),
  ).toMatchObject({
    used: 45_020,
    spent: { input: 30, cacheRead: 80_000, output: 300 },
    exact: true,
  })
})

test('an iteration that is not an answer of the model does not count', () => {
  const iterations = [
    { type: 'message', ...counts(10, 0, 40_000, 100) },
    { type: 'compaction', ...counts(9, 0, 100, 100) },
  ]
  expect(measureUsage({ ...counts(19, 0, 40_100, 200), iterations })?.used).toBe(40_010)
})

test('server-side tools without iterations make the figure an estimate', () => {
  expect(measureUsage({ ...counts(30, 0, 80_000, 300), server_tool_use: { web_search_requests: 2 } })).toMatchObject({
    used: 80_030,
    exact: false,
  })
  expect(
    measureUsage({ ...counts(30, 0, 80_000, 300), server_tool_use: { web_search_requests: 0 }, iterations: null })
      ?.exact,
  ).toBe(true)
})

test('counts that are all zero mean unknown', () => {
  expect(measureUsage(counts(0, 0, 0, 0))?.used).toBeNull()
})

test.each([
  [null],
  [undefined],
  ['5'],
  [[1]],
  [{}],
  [{ input_tokens: 'many' }],
  [{ input_tokens: -5 }],
  [{ input_tokens: Number.NaN }],
])('the value %j yields no figure and does not throw', (value) => {
  expect(measureUsage(value)?.used ?? null).toBeNull()
})
