import { describe, expect, test } from 'vitest'
import { makeSdkReader, observeSdkMessage, readContextUsage, windowOfModel } from './sdk.js'

const usage = {
  input_tokens: 8,
  cache_creation_input_tokens: 15_000,
  cache_read_input_tokens: 110_000,
  output_tokens: 1,
}
const assistant = (more: object = {}, message: object = {}) => ({
  type: 'assistant',
  message: { id: 'msg_1', model: 'claude-opus-4-6', usage, ...message },
  parent_tool_use_id: null,
  session_id: 's1',
  timestamp: '2026-11-15T20:27:40.698Z',
  ...more,
})

test('an answer is one reading, however many blocks it is sent in', () => {
  const read = makeSdkReader()
  expect(read(assistant())).toMatchObject({
    type: 'answer',
    sessionId: 's1',
    reading: {
      used: 125_008,
      source: 'sdk',
      answerId: 'msg_1',
      model: 'claude-opus-4-6',
      stamp: Date.UTC(2026, 10, 15, 20, 27, 40, 698),
    },
  })
  expect(read(assistant())).toBeNull()
  expect(read(assistant({}, { id: 'msg_2' }))).toMatchObject({ reading: { answerId: 'msg_2' } })
})

test.each([
  ['a subagent', assistant({ parent_tool_use_id: 'toolu_1' })],
  ['synthetic', assistant({}, { model: '<synthetic>' })],
  ['all zero', assistant({}, { usage: { input_tokens: 0, output_tokens: 0 } })],
  ['without usage', assistant({}, { usage: undefined })],
  ['a user message', { type: 'user', message: { usage } }],
  ['a progress report', { type: 'system', subtype: 'task_progress', usage: { total_tokens: 20_013 } }],
  ['not a message', 'text'],
  ['nothing', null],
])('a message without figures is ignored: %s', (_, message) => expect(observeSdkMessage(message)).toBeNull())

test('the first message names session, model and version', () => {
  expect(
    observeSdkMessage({
      type: 'system',
      subtype: 'init',
      session_id: 's1',
      model: 'claude-opus-5-5',
      claude_code_version: '2.1.325',
      cwd: '/p',
    }),
  ).toEqual({
    type: 'session',
    sessionId: 's1',
    model: 'claude-opus-5-5',
    agentVersion: '2.1.325',
    cwd: '/p',
  })
})

test('a compaction is reported with its figures', () => {
  const compact_metadata = { trigger: 'auto', pre_tokens: 169_249, post_tokens: 2_876, duration_ms: 49 }
  expect(
    observeSdkMessage({ type: 'system', subtype: 'compact_boundary', session_id: 's1', compact_metadata }),
  ).toEqual({
    type: 'compaction',
    sessionId: 's1',
    trigger: 'auto',
    before: 169_249,
    after: 2_876,
    durationMs: 49,
  })
})

test('a result has cost and windows, never a fill level', () => {
  const modelUsage = {
    'claude-haiku-4-5': { contextWindow: 200_000 },
    'claude-sonnet-4-5[1m]': { contextWindow: 1_000_000 },
    broken: {},
  }
  const news = observeSdkMessage({
    type: 'result',
    session_id: 's1',
    total_cost_usd: 1.5,
    modelUsage,
    usage,
    is_error: true,
    terminal_reason: 'blocking_limit',
  })
  expect(news).toEqual({
    type: 'result',
    sessionId: 's1',
    costUsd: 1.5,
    failed: true,
    terminalReason: 'blocking_limit',
    windows: { 'claude-haiku-4-5': 200_000, 'claude-sonnet-4-5[1m]': 1_000_000 },
  })
  const windows = news?.type === 'result' ? news.windows : {}
  expect(windowOfModel(windows, 'claude-sonnet-4-5')).toBe(1_000_000)
  expect(windowOfModel(windows, 'claude-opus-4-6')).toBeNull()
  expect(windowOfModel(windows, null)).toBeNull()
})

describe('a context-usage query', () => {
  const reply = {
    totalTokens: 132_000,
    rawMaxTokens: 200_000,
    autoCompactThreshold: 167_000,
    isAutoCompactEnabled: true,
    autocompactSource: 'model-default',
    model: 'claude-opus-4-6',
    apiUsage: usage,
  }

  test('a context-usage reply yields the last answer as reading, the exact limits, and a separate estimate', () => {
    const found = readContextUsage(reply, {}, 5)
    expect(found).toMatchObject({
      reading: { used: 125_008, source: 'query', stamp: 5 },
      limits: { window: 200_000, point: 167_000, mode: 'proactive', exact: true },
      estimate: 132_000,
    })
    expect(
      readContextUsage({ type: 'control_response', response: { subtype: 'success', response: reply } }, {}, 5),
    ).toEqual(found)
  })

  test('a smaller configured window is not mistaken for the model’s own', () => {
    const set = { ...reply, rawMaxTokens: 100_000, autoCompactThreshold: 67_000, autocompactSource: 'settings' }
    expect(readContextUsage(set)?.limits).toMatchObject({ window: 200_000, point: 67_000, exact: true })
  })

  test('before the first answer the figure of a context-usage reply is unknown', () => {
    expect(readContextUsage({ ...reply, apiUsage: null })).toMatchObject({ reading: { used: null, usage: null } })
  })

  test('a context-usage reply covers compaction that is off, and an override that the client does not report', () => {
    expect(
      readContextUsage({ ...reply, autoCompactThreshold: undefined, isAutoCompactEnabled: false })?.limits,
    ).toMatchObject({
      mode: 'off',
      point: 177_000,
    })
    expect(readContextUsage(reply, { CLAUDE_AUTOCOMPACT_PCT_OVERRIDE: '50' })?.limits.point).toBe(90_000)
  })

  test.each([[null], ['x'], [{}], [{ response: { subtype: 'error' } }], [{ rawMaxTokens: 'many' }]])(
    'the value %j is no context-usage reply',
    (value) => {
      expect(readContextUsage(value)).toBeNull()
    },
  )
})
