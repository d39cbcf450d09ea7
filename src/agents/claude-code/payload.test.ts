import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { jsonElements, jsonMembers, parsePayload, parseTruncatedPayload } from './payload.js'

const batch = (result: unknown, more: object = {}) => ({
  session_id: 's1',
  hook_event_name: 'PostToolBatch',
  tool_calls: [
    { tool_name: 'Read', tool_input: { tool_use_id: 'not this' }, tool_response: result, tool_use_id: 'toolu_1' },
    {
      tool_name: 'Bash',
      tool_input: {},
      tool_use_id: 'toolu_2',
      tool_response: { usage: { tool_use_id: 'nor this' } },
    },
  ],
  ...more,
})

describe('a body of several megabytes', () => {
  const nasty = `"tool_use_id":"toolu_fake" \\ \\" {[ ü \u2028 \n`.repeat(80_000)

  test('a large body yields the fields of the event and the ids of the calls, whatever the results contain', () => {
    const fields = parsePayload(JSON.stringify(batch({ stdout: nasty }, { agent_id: 'a1', cwd: '/p "quoted" \\' })))!
    expect(fields).toMatchObject({
      session_id: 's1',
      agent_id: 'a1',
      cwd: '/p "quoted" \\',
      tool_calls: [{ tool_use_id: 'toolu_1' }, { tool_use_id: 'toolu_2' }],
    })
  })

  test('a large body is read the same with any spacing', () => {
    const fields = parsePayload(JSON.stringify(batch(nasty), null, 3))!
    expect(fields).toMatchObject({
      session_id: 's1',
      tool_calls: [{ tool_use_id: 'toolu_1' }, { tool_use_id: 'toolu_2' }],
    })
  })

  test('a large payload is not parsed whole: only its small members are', () => {
    const body = JSON.stringify(batch({ stdout: 'a line of output\n'.repeat(60_000) }))
    const parse = vi.spyOn(JSON, 'parse')
    onTestFinished(() => parse.mockRestore())
    parsePayload(body)
    expect(parse.mock.calls.reduce((sum, [text]) => sum + text.length, 0)).toBeLessThan(2_000)
  })

  test('a large body that is cut off still yields the members before the cut', () => {
    const body = JSON.stringify(batch(nasty))
    expect(parsePayload(body.slice(0, body.length / 2))).toMatchObject({
      session_id: 's1',
      hook_event_name: 'PostToolBatch',
    })
  })

  test('a large body keeps a long summary whole', () => {
    const summary = 'what was done "so far"\n'.repeat(10_000)
    expect(parsePayload(JSON.stringify({ session_id: 's1', compact_summary: summary }))?.compact_summary).toBe(summary)
  })
})

test.each(['', 'nonsense', '[1]', '"text"', 'null', '{"session_id":"s1"', '12'])(
  'the body %j is no payload',
  (body) => {
    expect(parsePayload(body)).toBeNull()
  },
)

test('a long text that is no JSON is no payload', () => {
  expect(parsePayload('x'.repeat(200_000))).toBeNull()
})

test('scanning agrees with parsing on every kind of value', () => {
  const value = {
    a: 1.5e3,
    b: -2,
    c: true,
    d: null,
    e: '"\\',
    f: [],
    g: {},
    h: [1, [2, { i: '}' }], ']'],
    j: { k: '{' },
  }
  for (const json of [JSON.stringify(value), JSON.stringify(value, null, 2)]) {
    const found = [...jsonMembers(json)].map(([key, [start, end]]) => [key, JSON.parse(json.slice(start, end))])
    expect(Object.fromEntries(found)).toEqual(value)
  }
  const list = [1, 'two', [3], { four: 4 }]
  const json = JSON.stringify(list)
  expect(jsonElements(json).map(([start, end]) => JSON.parse(json.slice(start, end)))).toEqual(list)
  expect(jsonMembers('{}').size + jsonElements('[]').length + jsonMembers('').size).toBe(0)
})

describe('a batch that was cut off within its tool calls', () => {
  const whole = JSON.stringify(batch('x'.repeat(5_000), { cwd: '/p' }))
  const inOrder = JSON.stringify({
    session_id: 's1',
    cwd: '/p, "tool_calls":[',
    agent_id: 'a1',
    tool_calls: [{ tool_use_id: 't1' }, { x: 1 }],
  })

  test('a batch that was cut off yields its session and the calls that can be identified', () => {
    expect(parseTruncatedPayload(inOrder.slice(0, -9))).toEqual({
      session_id: 's1',
      cwd: '/p, "tool_calls":[',
      agent_id: 'a1',
      tool_calls: [{ tool_use_id: 't1' }],
    })
  })

  test('a batch that was cut off before any id counts as one call', () => {
    expect(parseTruncatedPayload(whole.slice(0, 2_000))).toMatchObject({ session_id: 's1', tool_calls: [{}] })
  })

  test('a body that ends before its calls, or begins with something else, yields nothing', () => {
    for (const body of ['', '{', whole.slice(0, 30), `[1,"tool_calls":[`, 'nonsense,"tool_calls":['])
      expect(parseTruncatedPayload(body)).toBeNull()
  })
})
