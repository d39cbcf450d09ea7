import { expect, test } from 'vitest'
import { decodeStatusLine } from './open.js'

const usage = {
  input_tokens: 8,
  cache_creation_input_tokens: 15_000,
  cache_read_input_tokens: 110_000,
  output_tokens: 4_000,
}

test("a status line reading is the input of the last answer, stamped by the client's session clock", () => {
  expect(
    decodeStatusLine({
      model: { id: 'claude-sonnet-4-5[1m]' },
      cost: { total_cost_usd: 1.25, total_duration_ms: 3571 },
      context_window: { total_input_tokens: 125_008, context_window_size: 1_000_000, current_usage: usage },
    }),
  ).toMatchObject({
    reading: {
      used: 125_008,
      usage: { output: 4_000 },
      exact: true,
      model: 'claude-sonnet-4-5[1m]',
      source: 'status-line',
      stamp: 3571,
    },
    window: 1_000_000,
    costUsd: 1.25,
  })
})

test('a status line with only a sum is used', () => {
  expect(
    decodeStatusLine({ context_window: { total_input_tokens: 35_000, current_usage: null } }).reading,
  ).toMatchObject({
    used: 35_000,
    usage: null,
  })
})

test('zeros after a compaction and nulls at the start mean unknown', () => {
  const zeros = { input_tokens: 0, output_tokens: 0, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
  expect(decodeStatusLine({ context_window: { total_input_tokens: 0, current_usage: zeros } }).reading).toMatchObject({
    used: null,
    usage: null,
  })
  expect(decodeStatusLine({ context_window: { total_input_tokens: 0, current_usage: null } }).reading.used).toBeNull()
  expect(decodeStatusLine({}).reading.used).toBeNull()
})

test('plan limits are stored by name, with either kind of time', () => {
  const { planLimits } = decodeStatusLine({
    rate_limits: {
      five_hour: { used_percentage: 42.5, resets_at: 1_794_765_310 },
      seven_day: { used_percentage: 10, resets_at: '2026-11-20T00:00:00Z' },
      spend_limit: { resets_at: 5 },
      broken: null,
    },
  })
  expect(planLimits).toEqual([
    { name: 'five_hour', usedPercent: 42.5, resetsAt: '2026-11-15T17:55:10.000Z' },
    { name: 'seven_day', usedPercent: 10, resetsAt: '2026-11-20T00:00:00.000Z' },
  ])
})
