import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { RuntimeMessage } from '../../../contract/runtime.js'
import { ClientMessages } from './client-messages.js'

const FIXTURES = join(import.meta.dirname, 'fixtures')

const played = (version: string, name: string): RuntimeMessage[] => {
  const translation = new ClientMessages()
  const lines = readFileSync(join(FIXTURES, version, `${name}.jsonl`), 'utf8')
    .trim()
    .split('\n')
  return [...lines.flatMap((line) => translation.take(JSON.parse(line)).messages), ...translation.end()]
}
const ofKinds = (messages: RuntimeMessage[], kinds: RuntimeMessage['kind'][]) =>
  messages.filter(({ kind }) => kinds.includes(kind))
const fed = (message: RuntimeMessage) =>
  message.kind === 'answer' &&
  message.usage &&
  message.usage.input + message.usage.cacheCreation + message.usage.cacheRead

describe.each(readdirSync(FIXTURES))('messages of client %s', (version) => {
  test('an answer of three parts is reported once, with its final counts and before its tools return', () => {
    const messages = played(version, 'batch-stop')
    const answers = messages.filter((message) => message.kind === 'answer')
    expect(answers.map(({ text, calls, usage }) => [text, calls.map(({ name }) => name), usage?.output])).toEqual([
      ['Two.', ['Bash', 'Bash'], 50],
      ['The brief.', [], 50],
    ])
    expect(fed(answers[0]!)).toBe(50_008)
    const kinds = messages.map((message) => (message.kind === 'other' ? message.type : message.kind))
    expect(kinds.indexOf('answer')).toBeLessThan(kinds.indexOf('user'))
  })

  test('a stopped turn and the next are reported with the client’s reasons, and their spend adds up', () => {
    const results = played(version, 'batch-stop').filter((message) => message.kind === 'result')
    expect(results.map(({ terminal, isError, text }) => [terminal, isError, text])).toEqual([
      ['hook_stopped', false, ''],
      ['completed', false, 'The brief.'],
    ])
    expect(results.map(({ spend }) => spend.usage.output)).toEqual([50, 100])
    expect(results[1]!.spend.costUsd).toBeGreaterThan(results[0]!.spend.costUsd!)
  })

  test('the session is reported once, though every turn begins with it, and so is its idle state', () => {
    const messages = ofKinds(played(version, 'batch-stop'), ['started', 'state'])
    expect(messages.map((message) => (message.kind === 'state' ? message.state : message.kind))).toEqual([
      'working',
      'started',
      'idle',
      'working',
      'idle',
    ])
    expect(messages[1]).toMatchObject({ model: 'claude-opus-4-6', version })
  })

  test('a compaction is reported at its start and at its end, with its figures', () => {
    const messages = ofKinds(played(version, 'compaction'), ['compacting', 'compacted'])
    expect(messages).toMatchObject([{ kind: 'compacting' }, { kind: 'compacted', trigger: 'auto' }])
    const [, { before, after, durationMs }] = messages as [
      RuntimeMessage,
      Extract<RuntimeMessage, { kind: 'compacted' }>,
    ]
    expect(before).toBeGreaterThanOrEqual(170_000)
    expect(after).toBeLessThan(before!)
    expect(durationMs).toBeGreaterThan(0)
  })

  test('a failed request is a retry and then an error, never an answer', () => {
    const messages = played(version, 'api-error')
    expect(ofKinds(messages, ['retry', 'answer', 'result'])).toMatchObject([
      { kind: 'retry', attempt: 1, status: 529 },
      { kind: 'result', terminal: 'api_error', isError: true, status: 529 },
    ])
  })

  test('background tasks are reported as a list, and a subagent’s answers are not the main agent’s', () => {
    const messages = played(version, 'interrupt-and-tasks')
    expect(ofKinds(messages, ['tasks']).map((message) => message.kind === 'tasks' && message.running.length)).toEqual([
      1, 0,
    ])
    expect(ofKinds(messages, ['answer'])).toHaveLength(4)
    expect(messages).toContainEqual({ kind: 'other', type: 'assistant of a subagent' })
    expect(ofKinds(messages, ['result'])[0]).toMatchObject({ terminal: 'aborted_tools', isError: true })
  })

  test('a limit of the plan is reported with its reset, before it is reached and when it is', () => {
    expect(ofKinds(played(version, 'limit'), ['limit'])).toEqual([
      { kind: 'limit', name: 'five_hour', reached: false, resetsAt: '2030-01-01T00:00:00.000Z', usedPercent: 91 },
      { kind: 'limit', name: 'five_hour', reached: true, resetsAt: '2030-01-01T00:00:00.000Z', usedPercent: null },
    ])
  })
})

const assistant = (id: string, change: object = {}, usage: object = { input_tokens: 8, output_tokens: 1 }) => ({
  type: 'assistant',
  uuid: `u-${id}`,
  parent_tool_use_id: null,
  message: { id, model: 'claude-opus-4-6', content: [{ type: 'text', text: id }], usage },
  ...change,
})

test('an answer without an end is reported when the next begins, and the last one at the end of the stream', () => {
  const translation = new ClientMessages()
  expect(translation.take(assistant('a')).messages).toEqual([])
  expect(translation.take(assistant('b')).messages).toMatchObject([{ kind: 'answer', id: 'a', text: 'a', uuid: 'u-a' }])
  expect(translation.end()).toMatchObject([{ kind: 'answer', id: 'b' }])
  expect(translation.take(assistant('b')).messages).toEqual([{ kind: 'other', type: 'assistant' }])
})

test('a call that the permission mode denies is reported at once, also one of a subagent', () => {
  const denied = { type: 'system', subtype: 'permission_denied', tool_name: 'Write', tool_use_id: 'toolu_1' }
  const message = {
    ...denied,
    message: "Claude requested permissions to write to a.txt, but you haven't granted it yet.",
  }
  for (const parent of [null, 'toolu_0'])
    expect(new ClientMessages().take({ ...message, parent_tool_use_id: parent }).messages).toEqual([
      { kind: 'denied', id: 'toolu_1', tool: 'Write', reason: message.message },
    ])
})

test('the last of several iterations counts, and without iterations nothing is exact', () => {
  const usage = {
    input_tokens: 30,
    cache_read_input_tokens: 50_000,
    output_tokens: 9,
    server_tool_use: { web_search_requests: 2 },
  }
  const iterations = [
    { input_tokens: 10, cache_read_input_tokens: 20_000 },
    { input_tokens: 20, cache_read_input_tokens: 30_000 },
  ]
  const one = (given: object) => {
    const translation = new ClientMessages()
    translation.take(assistant('a', {}, given))
    return translation.end()
  }
  expect(one({ ...usage, iterations })).toMatchObject([{ usage: { input: 20, cacheRead: 30_000 } }])
  expect(one(usage)).toMatchObject([{ usage: null }])
})

test('a turn that the client started itself does not belong to a prompt', () => {
  const translation = new ClientMessages()
  const result = { type: 'result', subtype: 'success', is_error: true, result: 'Prompt is too long' }
  expect(translation.take({ ...result, origin: { kind: 'task-notification' } }).promptDone).toBe(false)
  const taken = translation.take(result)
  expect(taken.promptDone).toBe(true)
  expect(taken.messages).toMatchObject([{ terminal: 'error', isError: true, status: null, text: 'Prompt is too long' }])
})

test('a value of unknown shape is an `other` message, never an error', () => {
  const translation = new ClientMessages()
  const strange = [
    null,
    7,
    'x',
    [],
    {},
    { type: 'assistant' },
    { type: 'system' },
    { type: 'rate_limit_event' },
    { type: 'stream_event' },
  ]
  for (const value of strange) expect(() => translation.take(value)).not.toThrow()
  expect(translation.take({ type: 'command_lifecycle' }).messages).toEqual([
    { kind: 'other', type: 'command_lifecycle' },
  ])
})
