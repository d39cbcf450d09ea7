import { expect, test } from 'vitest'
import type { ScriptStep } from './script.js'
import { unrollSteps, usageOf } from './unroll.js'

const climb = (...steps: ScriptStep[]) => unrollSteps(steps, { start: 20_008, grow: 1000 })
const used = (...steps: ScriptStep[]) => climb(...steps).map((answer) => answer.used)

test('a repeated step grows by its own `grow`', () => {
  expect(used({ used: 50_008, grow: 15_000, repeat: 6 })).toEqual([50_008, 65_008, 80_008, 95_008, 110_008, 125_008])
})

test('a repeated step without `grow` keeps its token figure', () => {
  expect(used({ used: 50_008, repeat: 2 })).toEqual([50_008, 50_008])
})

test('a step without a token figure continues from the step before it', () => {
  expect(used({}, {}, { used: 90_000 }, { grow: 5000 }, { grow: -3000, repeat: 2 })).toEqual([
    20_008, 21_008, 90_000, 95_000, 92_000, 89_000,
  ])
})

test('new tokens are cache creation, and all others were read from the cache', () => {
  const [first, second] = climb({ used: 50_008 }, { used: 65_008, output: 7 })
  expect(usageOf(first!)).toEqual({
    input_tokens: 8,
    cache_creation_input_tokens: 50_000,
    cache_read_input_tokens: 0,
    output_tokens: 50,
  })
  expect(usageOf(second!)).toEqual({
    input_tokens: 8,
    cache_creation_input_tokens: 15_000,
    cache_read_input_tokens: 50_000,
    output_tokens: 7,
  })
})

test('the token split adds up to `used`, also when it is given explicitly or the figure falls', () => {
  for (const step of [
    { used: 3 },
    { used: 0 },
    { used: 9000, input: 9000 },
    { used: 9000, input: 100, cache_creation: 200 },
  ]) {
    const [, answer] = climb({ used: 30_000 }, step)
    const usage = usageOf(answer!)
    expect(usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens).toBe(step.used)
    expect(Math.min(...Object.values(usage as unknown as Record<string, number>))).toBeGreaterThanOrEqual(0)
  }
})

test('an answer of several iterations reports their sum, and the last one fills the window', () => {
  const [, answer] = climb({ used: 30_000 }, { iterations: [31_000, 40_000] })
  expect(answer!.used).toBe(40_000)
  const usage = usageOf(answer!)
  expect(usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens).toBe(71_000)
  expect(usage.iterations).toHaveLength(2)
})
