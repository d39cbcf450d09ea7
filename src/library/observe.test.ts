import { expect, test } from 'vitest'
import { libraryHome } from './fixtures/library-home.js'

const init = (session_id = 's1', model = 'claude-opus-4-6') => ({
  type: 'system',
  subtype: 'init',
  session_id,
  model,
  cwd: '/home/me/shop',
  claude_code_version: '2.1.325',
})
const answer = (id: string, used: number, more: object = {}) => ({
  type: 'assistant',
  session_id: 's1',
  parent_tool_use_id: null,
  message: {
    id,
    model: 'claude-opus-4-6',
    usage: { input_tokens: 8, cache_read_input_tokens: used - 8, output_tokens: 1 },
  },
  ...more,
})
const boundary = {
  type: 'system',
  subtype: 'compact_boundary',
  session_id: 's1',
  uuid: 'u-boundary',
  compact_metadata: { trigger: 'manual', pre_tokens: 120_008, post_tokens: 3_000, duration_ms: 40 },
}
const result = (uuid: string, output_tokens: number, more: object = {}) => ({
  type: 'result',
  subtype: 'success',
  session_id: 's1',
  uuid,
  total_cost_usd: 0.25,
  usage: { input_tokens: 999_999, output_tokens },
  modelUsage: { 'claude-opus-4-6': { contextWindow: 200_000 } },
  ...more,
})

test('a tracker follows the session of the messages', () => {
  const home = libraryHome()
  const tracker = home.open({ session: undefined })
  expect(tracker.observe(init('abc'))).toMatchObject({
    session_id: 'abc',
    model: 'claude-opus-4-6',
    compaction_tokens: 167_000,
  })
  expect(tracker.sessionId).toBe('abc')
  expect(home.look((store) => store.session('abc'))).toMatchObject({
    state: 'working',
    agentVersion: '2.1.325',
    cwd: '/home/me/shop',
  })
})

test('an answer in several messages counts once, and the turn’s result corrects its output', () => {
  const home = libraryHome()
  const tracker = home.open()
  tracker.observe(init())
  for (let block = 0; block < 4; block++) tracker.observe(answer('m1', 50_008))
  tracker.observe(answer('m2', 60_008))
  expect(tracker.currentState()).toMatchObject({
    used_tokens: 60_008,
    answers: 2,
    cumulative_output_tokens: 2,
    cache_read_tokens: 110_000,
  })
  tracker.observe(result('r1', 160))
  tracker.observe(result('r1', 160))
  expect(tracker.currentState()).toMatchObject({
    used_tokens: 60_008,
    answers: 2,
    cumulative_output_tokens: 160,
    cost_usd: 0.25,
  })
  tracker.observe(answer('m3', 61_008))
  tracker.observe(result('r2', 40))
  expect(tracker.currentState()).toMatchObject({ answers: 3, cumulative_output_tokens: 200 })
  expect(home.look((store) => store.session('s1')!.state)).toBe('idle')
})

test.each([
  ['a subagent', answer('x', 190_000, { parent_tool_use_id: 'toolu_1' })],
  [
    'a synthetic answer',
    answer('x', 0, { message: { id: 'x', model: '<synthetic>', usage: { input_tokens: 0, output_tokens: 0 } } }),
  ],
  ['a user message', { type: 'user', session_id: 's1', message: { content: 'go' } }],
  ['nothing', undefined],
  ['a text', 'hello'],
])('observing %s changes nothing', (_, message) => {
  const tracker = libraryHome().open()
  tracker.observe(answer('m1', 50_008))
  const before = tracker.currentState()
  expect(tracker.observe(message)).toEqual({ ...before, crossed: [] })
})

test('a compaction starts a new cycle with unknown use and uncrossed levels', () => {
  const home = libraryHome()
  const tracker = home.open()
  tracker.observe(init())
  expect(tracker.observe(answer('m1', 120_008)).crossed).toEqual(['notice', 'warning'])
  expect(tracker.observe(boundary)).toMatchObject({ used_tokens: null, level: null, cycle: 2, compactions: 1 })
  tracker.observe(boundary)
  expect(tracker.observe(answer('m2', 90_008))).toMatchObject({
    used_tokens: 90_008,
    crossed: ['notice'],
    compactions: 1,
  })
  tracker.observe(result('r1', 5))
  const pair = home.look((store) =>
    store.events({ sessionId: 's1' }).filter((event) => event.type.startsWith('compaction_')),
  )
  expect(pair).toMatchObject([
    { type: 'compaction_start', data: { triggerReason: 'manual' } },
    {
      type: 'compaction_complete',
      data: { outcome: 'completed', tokensBefore: 120_008, tokensAfter: 3_000, durationMs: 40 },
    },
  ])
})

test('a failed turn is recorded as failed and changes no figures', () => {
  const tracker = libraryHome().open()
  tracker.observe(answer('m1', 50_008))
  expect(tracker.observe(result('r1', 0, { is_error: true, terminal_reason: 'api_error' }))).toMatchObject({
    used_tokens: 50_008,
    crossed: [],
  })
})

test('the result of a turn sets the window of a model with an unknown name', () => {
  const tracker = libraryHome().open()
  tracker.observe(init('s1', 'our-proxy-model'))
  expect(tracker.observe(answer('m1', 50_008)).window_tokens).toBe(1_000_000)
  const modelUsage = { 'claude-haiku-4-5': { contextWindow: 200_000 }, 'our-proxy-model': { contextWindow: 400_000 } }
  expect(tracker.observe(result('r1', 5, { modelUsage })).window_tokens).toBe(400_000)
  expect(tracker.observe(answer('m2', 51_008)).window_tokens).toBe(400_000)
})

test('the reply to a context-usage query makes window and compaction point exact', () => {
  const tracker = libraryHome().open({ model: 'claude-opus-4-6' })
  tracker.observe(answer('m1', 50_008))
  const state = tracker.observe({
    totalTokens: 57_000,
    rawMaxTokens: 100_000,
    autoCompactThreshold: 67_000,
    isAutoCompactEnabled: true,
    autocompactSource: 'settings',
    model: 'claude-opus-4-6',
    apiUsage: { input_tokens: 8, cache_read_input_tokens: 50_000, output_tokens: 1 },
  })
  expect(state).toMatchObject({
    used_tokens: 50_008,
    compaction_tokens: 67_000,
    window_tokens: 200_000,
    exact: true,
    source: 'query',
    answers: 1,
  })
  expect(state.crossed).toEqual(['notice', 'warning'])
  expect(tracker.observe(answer('m2', 51_008)).compaction_tokens).toBe(67_000)
})

test('exact limits stay, even if derived ones have another kind of compaction', () => {
  const tracker = libraryHome().open()
  tracker.observe(init('s1', 'claude-sonnet-4-5'))
  const reply = {
    rawMaxTokens: 150_000,
    autoCompactThreshold: 117_000,
    autocompactSource: 'settings',
    model: 'claude-sonnet-4-5',
  }
  expect(tracker.observe({ ...reply, isAutoCompactEnabled: true, apiUsage: null })).toMatchObject({
    compaction_tokens: 117_000,
  })
  expect(tracker.observe(answer('m1', 50_008))).toMatchObject({ compaction_tokens: 117_000, exact: true })
  expect(tracker.updateUsage({ input_tokens: 51_000, output_tokens: 1 })).toMatchObject({
    compaction_tokens: 117_000,
    exact: true,
  })
})

test('the model named in messages outranks the caller’s', () => {
  const tracker = libraryHome().open({ model: 'opus' })
  expect(tracker.observe(init())).toMatchObject({ model: 'claude-opus-4-6', window_tokens: 200_000 })
  expect(tracker.observe(answer('m1', 50_008))).toMatchObject({ model: 'claude-opus-4-6', window_tokens: 200_000 })
})

test('two sessions observed by one tracker are not mixed up', () => {
  const tracker = libraryHome().open()
  tracker.observe(answer('m1', 120_008))
  expect(tracker.observe({ ...answer('m1', 30_008), session_id: 's2' })).toMatchObject({
    session_id: 's2',
    used_tokens: 30_008,
    level: null,
    answers: 1,
  })
  expect(tracker.observe(answer('m2', 121_008))).toMatchObject({
    session_id: 's1',
    answers: 2,
    level: 'warning',
    crossed: [],
  })
})
