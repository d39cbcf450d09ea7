import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type RecordingListener, recordingListener } from '../../../jobs/runtimes/recorded-session.cases.js'
import { boundedListener } from '../../shared/bounded-listener.js'
import type { Fields } from '../fields.js'
import { CliProtocol } from './cli-runtime.js'
import { ClientHooks } from './client-hooks.js'

const FIXTURES = join(import.meta.dirname, 'fixtures')

function protocol(listening: RecordingListener = recordingListener()) {
  const written: Fields[] = []
  const messages: Fields[] = []
  const hooks = new ClientHooks(boundedListener(listening, () => {}))
  const it = new CliProtocol({
    write: (line) => void written.push(JSON.parse(line) as Fields),
    message: (value) => void messages.push(value),
    hook: (input) => hooks.answer(input),
  })
  return { it, written, messages, listening }
}

async function play(version: string, name: string, listening?: RecordingListener) {
  const at = protocol(listening)
  for (const line of readFileSync(join(FIXTURES, version, `${name}.jsonl`), 'utf8')
    .trim()
    .split('\n')) {
    at.it.take(line)
    // The client waits for each answer of a hook, as in the recording.
    await new Promise((resolve) => setImmediate(resolve))
  }
  return at
}

test('hooks are registered before anything else, with a longer limit than a listener has', () => {
  const { it, written } = protocol()
  void it.initialize('Be brief.')
  const hook = (event: string) => [{ hookCallbackIds: [event], timeout: 600 }]
  expect(written).toEqual([
    {
      type: 'control_request',
      request_id: 'baton-1',
      request: {
        subtype: 'initialize',
        hooks: {
          UserPromptSubmit: hook('UserPromptSubmit'),
          PreToolUse: hook('PreToolUse'),
          PostToolUse: hook('PostToolUse'),
          PostToolUseFailure: hook('PostToolUseFailure'),
          PostToolBatch: hook('PostToolBatch'),
          PreCompact: hook('PreCompact'),
          SessionStart: [{ matcher: 'compact', hookCallbackIds: ['SessionStart'], timeout: 600 }],
          ...Object.fromEntries(
            ['PostCompact', 'SubagentStop', 'Stop', 'StopFailure'].map((event) => [event, hook(event)]),
          ),
        },
        appendSystemPrompt: 'Be brief.',
      },
    },
  ])
})

test('a prompt waits for the end of the running turn', () => {
  const { it, written } = protocol()
  it.say('two\nlines', 'u1')
  const message = { role: 'user', content: 'two\nlines' }
  expect(written).toEqual([{ type: 'user', message, parent_tool_use_id: null, priority: 'later', uuid: 'u1' }])
})

test.each(readdirSync(FIXTURES))(
  'the hook calls of client %s are answered, in its order and with its ids',
  async (version) => {
    const { written, listening } = await play(
      version,
      'batch-stop',
      recordingListener({ afterBatch: async () => ({ stop: 'full' }) }),
    )
    expect(listening.asked).toEqual(['before Bash', 'before Bash', 'after Bash', 'failed Bash', 'batch 2'])
    expect(listening.batches[0]!.map(({ input, failed }) => [input, failed])).toEqual([
      [{ command: 'echo a' }, false],
      [{ command: 'false' }, true],
    ])
    const answers = written.map((line) => line.response as { subtype: string; request_id: string; response: unknown })
    expect(answers.map(({ response }) => response)).toEqual([{}, {}, {}, {}, { continue: false, stopReason: 'full' }])
    expect(new Set(answers.map(({ request_id }) => request_id)).size).toBe(5)
  },
)

test.each(readdirSync(FIXTURES))(
  'a compaction of client %s can be blocked, and the text after it is passed on',
  async (version) => {
    const answers = {
      beforeCompaction: async () => ({ block: 'not now' }),
      afterCompaction: async () => ({ context: 'remember' }),
    }
    const { written, listening } = await play(version, 'compaction', recordingListener(answers))
    expect(listening.asked.slice(-2)).toEqual(['compaction auto', 'compacted'])
    expect(written.slice(-2).map((line) => (line.response as Fields).response)).toEqual([
      { decision: 'block', reason: 'not now' },
      { hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: 'remember' } },
    ])
  },
)

test.each(readdirSync(FIXTURES))(
  'the summariser of client %s is given what a summary must contain',
  async (version) => {
    const listening = Object.assign(recordingListener(), {
      onHookEvent: async (event: string) => (event === 'PreCompact' ? 'carry this' : 'for nobody'),
    })
    const { written } = await play(version, 'compaction', listening)
    const answers = written.map((line) => (line.response as Fields).response)
    expect(answers.at(-2)).toEqual({ systemMessage: 'carry this' })
    expect(answers.slice(0, -2).concat(answers.at(-1))).not.toContainEqual({ systemMessage: expect.anything() })
  },
)

test.each(readdirSync(FIXTURES))(
  "a subagent's batch in client %s is not the main agent's, and its calls are reported as its own",
  async (version) => {
    const calls: (string | null)[] = []
    const listening = recordingListener({
      beforeTool: async (call) => {
        calls.push(call.subagent)
        return {}
      },
    })
    await play(version, 'interrupt-and-tasks', listening)
    expect(calls.filter((subagent) => subagent !== null)).toHaveLength(1)
    expect(listening.asked.filter((asked) => asked.startsWith('batch'))).toEqual(['batch 1', 'batch 1'])
  },
)

test('a denied call is refused with its reason', async () => {
  const { it, written } = protocol(recordingListener({ beforeTool: async () => ({ deny: 'only words' }) }))
  const input = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: {}, tool_use_id: 't1' }
  it.take(JSON.stringify({ type: 'control_request', request_id: 'q1', request: { subtype: 'hook_callback', input } }))
  await new Promise((resolve) => setImmediate(resolve))
  const decision = { hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'only words' }
  const response = { subtype: 'success', request_id: 'q1', response: { hookSpecificOutput: decision } }
  expect(written).toEqual([{ type: 'control_response', response }])
})

test('responses are matched to their requests, also out of order, and a refusal rejects', async () => {
  const { it, written } = protocol()
  const [first, second, third] = ['a', 'b', 'c'].map((subtype) => it.request({ subtype }))
  const reply = (n: number, rest: object) =>
    it.take(JSON.stringify({ type: 'control_response', response: { request_id: written[n]!.request_id, ...rest } }))
  reply(1, { subtype: 'success', response: { x: 1 } })
  reply(0, { subtype: 'success' })
  reply(2, { subtype: 'error', error: 'unknown request' })
  expect(await second).toEqual({ x: 1 })
  expect(await first).toBeNull()
  await expect(third).rejects.toThrow('unknown request')
})

test('unknown requests are refused, other objects are messages, and nothing is lost on a broken line', async () => {
  const { it, written, messages } = protocol()
  it.take('{"type":"control_request","request_id":"q1","request":{"subtype":"elicitation"}}')
  it.take('{"type":"keep_alive"}')
  it.take('half a li')
  it.take('{"type":"result"}')
  await new Promise((resolve) => setImmediate(resolve))
  expect(written).toMatchObject([{ response: { subtype: 'error', request_id: 'q1' } }])
  expect(messages).toEqual([{ type: 'not JSON' }, { type: 'result' }])
})
