import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { libraryHome } from './fixtures/library-home.js'

const answer = (used: number) => ({ input_tokens: used, output_tokens: 1 })

test('an unknown session gets a 200k window until an answer proves a larger one and moves levels', () => {
  const tracker = libraryHome().open()
  expect(tracker.updateUsage(answer(199_000))).toMatchObject({
    window_tokens: 200_000,
    compaction_tokens: 167_000,
    exact: false,
  })
  const state = tracker.updateUsage(answer(230_008))
  expect(state).toMatchObject({
    window_tokens: 1_000_000,
    compaction_tokens: 967_000,
    level: 'warning',
    threshold_reached: 'warning',
  })
  expect(tracker.updateUsage(answer(10_000)).window_tokens).toBe(1_000_000)
  expect(tracker.updateUsage(answer(500_000)).crossed).toEqual(['handoff'])
})

test.each([
  ['claude-opus-4-6', 200_000, 167_000, 'proactive'],
  ['claude-sonnet-4-5', 200_000, 167_000, 'reactive'],
  ['claude-sonnet-4-5[1m]', 1_000_000, 967_000, 'reactive'],
  ['opus', 1_000_000, 967_000, 'proactive'],
])('the model %s has a window of %i and compacts at %i', (model, window_tokens, compaction_tokens, compaction_mode) => {
  const state = libraryHome().open({ model }).updateUsage(answer(50_000))
  expect(state).toMatchObject({ model, window_tokens, compaction_tokens, compaction_mode })
})

test('settings and environment of the agent decide the limits as in the agent itself', () => {
  const home = libraryHome()
  const folder = join(home.env.HOME!, '.claude')
  mkdirSync(folder)
  writeFileSync(join(folder, 'settings.json'), '{"autoCompactWindow":300000}')
  expect(home.open({ model: 'opus' }).updateUsage(answer(1_000)).compaction_tokens).toBe(267_000)
  const env = { ...home.env, CLAUDE_CODE_AUTO_COMPACT_WINDOW: '150000' }
  expect(home.open({ session: 's2', model: 'opus', env }).updateUsage(answer(1_000)).compaction_tokens).toBe(117_000)
})

test('limits given by the caller come first, also in other trackers of the session', () => {
  const home = libraryHome()
  expect(home.open({ window: 128_000 }).updateUsage(answer(50_000))).toMatchObject({
    window_tokens: 128_000,
    compaction_tokens: 95_000,
  })
  expect(home.open().updateUsage(answer(51_000))).toMatchObject({ window_tokens: 128_000, compaction_tokens: 95_000 })

  const own = { session: 's2', model: 'our-model', window: 32_000, compaction: 30_000 }
  expect(home.open(own).updateUsage(answer(16_000))).toMatchObject({
    used_percent: 50,
    compaction_percent: 53.3,
    crossed: ['notice'],
  })
  expect(home.open({ session: 's2' }).updateUsage(answer(15_000))).toMatchObject({
    window_tokens: 32_000,
    compaction_tokens: 30_000,
  })
})

test('a compaction point alone places the levels, and the window stays unknown', () => {
  const home = libraryHome()
  const known = { compaction_tokens: 100_000, window_tokens: null, used_percent: null }
  expect(home.open({ compaction: 100_000 }).updateUsage(answer(60_000))).toMatchObject({
    ...known,
    compaction_percent: 60,
  })
  expect(home.open().updateUsage(answer(71_000))).toMatchObject({ ...known, crossed: ['warning'] })
})

test.each([
  [{ window: 0 }, 'window must be'],
  [{ window: 1.5 }, 'window must be'],
  [{ compaction: -1 }, 'compaction must be'],
  [{ window: 100_000, compaction: 100_001 }, 'must not be above'],
  [{ window: 30_000 }, 'give compaction too'],
])('the options %j are refused', (options, text) => {
  const home = libraryHome()
  expect(() => home.open(options)).toThrow(RangeError)
  expect(() => home.open(options)).toThrow(text)
  expect(home.files()).toEqual([])
})
