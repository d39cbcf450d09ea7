import { afterEach, expect, test } from 'vitest'
import { until } from '../../test/harness/wait.js'
import { countOccurrences, visibleTexts } from './log.js'
import { type Model, startModel } from './model.js'
import type { ScriptInput } from './script.js'

const open: Model[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((model) => model.close()))
})

async function model(script: ScriptInput, more: { keepBytes?: number; now?: () => number } = {}): Promise<Model> {
  const started = await startModel({ script, ...more })
  open.push(started)
  return started
}

type Message = { role: string; content: unknown }
const prompt = (text: string): Message => ({ role: 'user', content: [{ type: 'text', text }] })
const body = (messages: Message[], more: object = {}) => ({
  model: 'claude-opus-4-6',
  max_tokens: 100,
  tools: [{ name: 'Bash' }],
  messages,
  ...more,
})

async function ask(
  to: Model,
  messages: Message[],
  more: object = {},
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${to.url}/v1/messages`, { method: 'POST', headers, body: JSON.stringify(body(messages, more)) })
}

/**
 * Continues a conversation like the client:
 * sends tool results after each answer until the turn ends.
 */
async function converse(to: Model, messages: Message[], headers: Record<string, string> = {}) {
  const answers: {
    content: { type: string; id?: string; text?: string }[]
    usage: Record<string, number>
    stop_reason: string
  }[] = []
  for (;;) {
    const answer = (await (await ask(to, messages, {}, headers)).json()) as (typeof answers)[number]
    answers.push(answer)
    messages.push({ role: 'assistant', content: answer.content })
    if (answer.stop_reason !== 'tool_use') return answers
    const results = answer.content
      .filter((b) => b.type === 'tool_use')
      .map((b) => ({ type: 'tool_result', tool_use_id: b.id, content: 'ok' }))
    messages.push({ role: 'user', content: results })
  }
}

const used = (usage: Record<string, number>) =>
  usage.input_tokens! + usage.cache_creation_input_tokens! + usage.cache_read_input_tokens!

/** Returns the server-sent events of a response as pairs of name and data. */
async function events(response: Response): Promise<[string, Record<string, unknown>][]> {
  const text = await response.text()
  return text
    .split('\n\n')
    .filter(Boolean)
    .map((one) => [/event: (.*)/.exec(one)![1]!, JSON.parse(/data: (.*)/.exec(one)![1]!)])
}

test('the scripted model answers its steps in order, with the token figures of the script', async () => {
  const m = await model({ steps: [{ bash: 'echo {{n}} of {{used}}', used: 50_008, grow: 15_000, repeat: 6 }, 'Done.'] })
  const answers = await converse(m, [prompt('go')])
  expect(answers.map((a) => used(a.usage))).toEqual([50_008, 65_008, 80_008, 95_008, 110_008, 125_008, 126_008])
  expect(answers.at(-1)?.content).toEqual([{ type: 'text', text: 'Done.' }])
  expect(m.log()[1]!.answer!.tools[0]!.input).toEqual({ command: 'echo 2 of 65008' })
})

test('the scripted model continues over turns and says when its script has no steps left', async () => {
  const m = await model({ steps: ['One.', 'Two.'] })
  const messages = [prompt('a')]
  const texts: (string | undefined)[] = []
  for (const next of ['b', 'c', 'd', 'e']) {
    texts.push((await converse(m, messages))[0]!.content[0]!.text)
    messages.push(prompt(next))
  }
  expect(texts).toEqual(['One.', 'Two.', ...[3, 4].map((n) => `The script has no more steps (cycle 1, step ${n}).`)])
  expect(m.log().map((e) => e.answer!.used)).toEqual([20_008, 21_008, 22_008, 23_008])
})

test('a streamed answer equals the answer that is sent whole', async () => {
  const m = await model({ steps: [{ thinking: 'Hm.', text: 'Look.', bash: ['ls', 'pwd'], used: 40_008, output: 77 }] })
  const streamed = await events(await ask(m, [prompt('go')], { stream: true }))
  expect(streamed.map(([name]) => name).filter((name) => !name.startsWith('content_block'))).toEqual([
    'message_start',
    'message_delta',
    'message_stop',
  ])
  const delta = streamed.find(([name]) => name === 'message_delta')![1] as {
    usage: Record<string, number>
    delta: object
  }
  expect(used(delta.usage)).toBe(40_008)
  expect(delta.usage.output_tokens).toBe(77)
  expect(delta.delta).toEqual({ stop_reason: 'tool_use', stop_sequence: null })
  const whole = (await (await ask(m, [prompt('go')])).json()) as { content: { type: string }[] }
  const starts = streamed
    .filter(([name]) => name === 'content_block_start')
    .map(([, data]) => (data.content_block as { type: string }).type)
  expect(starts).toEqual(whole.content.map((block) => block.type))
  expect(starts).toEqual(['thinking', 'text', 'tool_use', 'tool_use'])
})

test('ids of answers and tool calls are never used twice', async () => {
  const m = await model({ steps: [{ bash: ['a', 'b'], repeat: 3 }, 'Done.'] })
  const answers = [...(await converse(m, [prompt('one')])), ...(await converse(m, [prompt('two')]))]
  const ids = answers.flatMap((a) => a.content.flatMap((block) => block.id ?? []))
  expect(ids).toHaveLength(12)
  expect(new Set(ids).size).toBe(12)
})

test('an answer reports its iterations and server-side tools', async () => {
  const m = await model({
    steps: [{ text: 'Found.', iterations: [30_000, 41_000], server_tools: { web_search_requests: 2 } }],
  })
  const { usage } = (await (await ask(m, [prompt('go')])).json()) as { usage: Record<string, unknown> }
  expect(usage.server_tool_use).toEqual({ web_search_requests: 2 })
  expect((usage.iterations as Record<string, number>[]).map(used)).toEqual([30_000, 41_000])
  expect(used(usage as Record<string, number>)).toBe(71_000)
})

test('a prompt beyond the maximum is refused every time', async () => {
  const m = await model({ maximum: 100_000, steps: [{ text: 'x', used: 100_001 }] })
  for (let i = 0; i < 3; i++) {
    const refused = await ask(m, [prompt('go')])
    expect(refused.status).toBe(400)
    expect(await refused.json()).toEqual({
      type: 'error',
      error: { type: 'invalid_request_error', message: 'prompt is too long: 100001 tokens > 100000 maximum' },
    })
  }
})

test('scripted failures come before the answer, separately for each session', async () => {
  const m = await model({
    steps: [{ text: 'At last.', fail: [{ kind: 429, times: 2, retry_after: 3, headers: { 'x-why': 'plan' } }, 529] }],
  })
  const tries = async (session: string) => {
    const statuses: number[] = []
    for (let i = 0; i < 4; i++)
      statuses.push((await ask(m, [prompt('go')], {}, { 'x-claude-code-session-id': session })).status)
    return statuses
  }
  expect(await Promise.all([tries('a'), tries('b')])).toEqual([
    [429, 429, 529, 200],
    [429, 429, 529, 200],
  ])
  const limited = await ask(m, [prompt('go')], {}, { 'x-claude-code-session-id': 'c' })
  expect([limited.headers.get('retry-after'), limited.headers.get('x-why')]).toEqual(['3', 'plan'])
})

test('a reached plan limit is reported with the time of its reset', async () => {
  const m = await model({ steps: [{ text: 'a', fail: { kind: 429, resets_in: 60 } }] })
  const { status, headers } = await ask(m, [prompt('go')])
  const reset = Number(headers.get('anthropic-ratelimit-unified-reset')) * 1000 - Date.now()
  expect([status, headers.get('anthropic-ratelimit-unified-status'), Math.round(reset / 10_000)]).toEqual([
    429,
    'rejected',
    6,
  ])
})

test('a scripted drop closes the connection before or within an answer', async () => {
  const m = await model({ steps: [{ text: 'a', fail: ['drop', 'drop-midstream'] }] })
  await expect(ask(m, [prompt('go')])).rejects.toThrow()
  const cut = await ask(m, [prompt('go')], { stream: true })
  await expect(cut.text()).rejects.toThrow()
  expect((await ask(m, [prompt('go')])).status).toBe(200)
})

test('a scripted error can be sent inside the stream', async () => {
  const m = await model({ steps: [{ text: 'a', fail: 'stream-error' }] })
  const [, second] = await events(await ask(m, [prompt('go')], { stream: true }))
  expect(second).toEqual([
    'error',
    { type: 'error', error: { type: 'overloaded_error', message: 'scripted stream error' } },
  ])
})

test.each(['hang', 'stall'] as const)('a scripted %s lasts until the client disconnects', async (kind) => {
  const m = await model({ steps: [{ text: 'a', fail: kind }] })
  const leave = new AbortController()
  const asked = fetch(`${m.url}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify(body([prompt('go')], { stream: true })),
    signal: leave.signal,
  }).then((response) => response.text())
  const outcome = asked.then(
    () => 'answered',
    () => 'left',
  )
  await until('it is asked', () => m.log()[0]?.outcome === 'open')
  leave.abort()
  expect(await outcome).toBe('left')
  expect((await m.waitFor((e) => e.n === 1)).answer?.fail).toBe(kind)
})

test('closing the scripted model ends a hanging request', async () => {
  const m = await startModel({ script: { steps: [{ text: 'a', fail: 'hang' }] } })
  const asked = ask(m, [prompt('go')]).catch(() => 'closed')
  await until('it is asked', () => m.log().length === 1)
  await m.close()
  expect(await asked).toBe('closed')
})

test('a held answer is sent when it is released, and never if the client disconnects first', async () => {
  const m = await model({ steps: [{ text: 'a', hold: 'brief' }] })
  const asked = ask(m, [prompt('go')])
  const leave = new AbortController()
  const left = fetch(`${m.url}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify(body([prompt('go')])),
    signal: leave.signal,
  }).catch(() => 'left')
  await until('both are asked', () => m.log().length === 2)
  leave.abort()
  expect(await left).toBe('left')
  expect((await m.waitFor(({ outcome }) => outcome === 'client-left')).answer).toBeNull()
  expect(m.log().filter(({ outcome }) => outcome === 'open')).toHaveLength(1)
  await fetch(`${m.url}/release?hold=brief`, { method: 'POST' })
  expect((await asked).status).toBe(200)
  expect((await ask(m, [prompt('go')])).status).toBe(200)
})

test('a delayed answer does not block others, and is not sent to a client that disconnected', async () => {
  const m = await model({
    conversations: [{ when: 'slowly', steps: [{ text: 'a', delay_ms: 200_000 }] }],
    steps: [{ text: 'b', delay_ms: 1 }],
  })
  const leaves = new AbortController()
  const asked = fetch(`${m.url}/v1/messages`, {
    method: 'POST',
    body: JSON.stringify(body([prompt('slowly')])),
    signal: leaves.signal,
  })
  await expect.poll(() => m.log().length).toBe(1)
  expect((await ask(m, [prompt('go')])).status).toBe(200)
  expect(m.log()[0]!.outcome).toBe('open')
  leaves.abort()
  await expect(asked).rejects.toThrow()
  await expect.poll(() => m.log()[0]!.outcome).toBe('client-left')
})

test('a summary of the scripted model moves the conversation into its next cycle', async () => {
  const m = await model({
    conversations: [
      {
        when: 'alpha',
        steps: [{ bash: 'a', repeat: 3 }],
        summary: 'What mattered.',
        after_compaction: ['Alpha again.'],
      },
    ],
    steps: ['Wrong one.'],
  })
  const first = (await (await ask(m, [prompt('alpha')])).json()) as { content: unknown }
  const request = prompt('Your task is to create a detailed summary of the conversation so far … <summary>')
  const answer = (await (
    await ask(m, [prompt('alpha'), { role: 'assistant', content: first.content }, request])
  ).json()) as {
    content: [{ text: string }]
  }
  const summary = /<summary>([\s\S]*)<\/summary>/.exec(answer.content[0].text)![1]!
  expect(summary).toContain('What mattered.')
  const next = await ask(m, [prompt(`This session is being continued from a previous conversation.\n${summary}`)])
  expect(((await next.json()) as { content: unknown[] }).content).toEqual([{ type: 'text', text: 'Alpha again.' }])
  expect(m.log().map((e) => [e.kind, e.conversation, e.cycle, e.step])).toEqual([
    ['main', 'conversation-1', 0, 0],
    ['compaction', 'conversation-1', 0, null],
    ['main', 'conversation-1', 1, 0],
  ])
})

test('a scripted reply is sent when the newest message contains its trigger', async () => {
  const m = await model({ steps: [{ bash: 'a' }, 'Done.'], replies: [{ when: '[baton]', text: 'The brief.' }] })
  const messages = [prompt('go')]
  await converse(m, messages)
  messages.push(prompt('[baton] please write it'))
  expect((await converse(m, messages))[0]!.content[0]!.text).toBe('The brief.')
  messages.push(prompt('go on'))
  expect((await converse(m, messages))[0]!.content[0]!.text).toContain('step 3')
})

test('side requests do not advance the script and get the JSON fields they ask for', async () => {
  const m = await model({ steps: ['One.'], side: 'A title' })
  const schema = { type: 'object', properties: { title: { type: 'string' } }, required: ['title'] }
  const side = {
    tools: [],
    metadata: { user_id: '{"session_id":"s"}' },
    output_config: { format: { type: 'json_schema', schema } },
  }
  const answer = (await (await ask(m, [prompt('go')], side)).json()) as { content: [{ text: string }] }
  expect(JSON.parse(answer.content[0].text)).toEqual({ title: 'A title' })
  expect((await converse(m, [prompt('go')]))[0]!.content[0]!.text).toBe('One.')
})

test('the scripted model counts tokens, refuses unknown routes, and survives malformed requests', async () => {
  const m = await model({ steps: ['One.'] })
  const post = (path: string, text: string) => fetch(m.url + path, { method: 'POST', body: text })
  expect(await (await post('/v1/messages/count_tokens', '{"messages":[]}')).json()).toEqual({ input_tokens: 4 })
  expect((await post('/v1/messages', 'nonsense')).status).toBe(400)
  expect((await post('/v1/messages', '{"messages":[null,5,{"role":"assistant"}]}')).status).toBe(200)
  expect((await post('/api/telemetry', '{}')).status).toBe(404)
  expect((await fetch(`${m.url}/`)).status).toBe(404)
})

test('the request log can be read over HTTP', async () => {
  const m = await model({ steps: ['One.'] }, { now: () => Date.UTC(2026, 0, 2) })
  await ask(m, [prompt('a')], {}, { 'x-claude-code-session-id': 's1' })
  await ask(m, [prompt('b')], {}, { 'x-claude-code-session-id': 's2' })
  const lines = async (query: string) =>
    (await (await fetch(`${m.url}/log${query}`)).text())
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
  const all = await lines('')
  expect(all.map((e) => [e.n, e.session_id, e.kind, e.step, e.answer.text, e.at])).toEqual([
    [1, 's1', 'main', 0, 'One.', '2026-01-02T00:00:00.000Z'],
    [2, 's2', 'main', 0, 'One.', '2026-01-02T00:00:00.000Z'],
  ])
  expect(all[0]).not.toHaveProperty('body')
  const [only] = await lines('?session=s2&bodies=1')
  expect(only.body.messages).toEqual([prompt('b')])
})

test('the log shows every text of a request and counts the copies of one', async () => {
  const m = await model({ steps: ['Hello.'] })
  await ask(m, [prompt('find me'), { role: 'system', content: 'and find me' }], {
    system: [{ type: 'text', text: 'rules' }],
  })
  expect(visibleTexts(m.log()[0]!)).toEqual(['rules', 'find me', 'and find me'])
  expect(countOccurrences(m.log()[0]!, 'find me')).toBe(2)
})

test('thirty concurrent conversations do not affect each other', async () => {
  const m = await model({ steps: [{ bash: 'echo {{n}}', used: 10_008, grow: 1000, repeat: 9 }, 'Done.'] })
  const all = await Promise.all(
    Array.from({ length: 30 }, (_, i) =>
      converse(m, [prompt(`conversation ${i}`)], { 'x-claude-code-session-id': `s${i}` }),
    ),
  )
  const wanted = Array.from({ length: 10 }, (_, i) => 10_008 + i * 1000)
  for (const answers of all) expect(answers.map((a) => used(a.usage))).toEqual(wanted)
  expect(m.log()).toHaveLength(300)
})

test('a port in use and an invalid script are errors', async () => {
  const m = await model({ steps: ['One.'] })
  await expect(startModel({ script: { steps: [] }, port: m.port })).rejects.toThrow(/EADDRINUSE/)
  await expect(startModel({ script: { stepz: [] } as never })).rejects.toThrow(/stepz: unknown key/)
})

test('a step with reads runs a command for a text in the request, and one for a text it lacks', async () => {
  const reads = [{ text: 'Keep the port.', present: 'echo kept', missing: 'echo broken' }]
  const it = await model({ steps: [{ bash: 'ls', reads }, 'Done.'] })
  await ask(it, [prompt('Fix it. Keep the port.')])
  await ask(it, [prompt('Fix it.')])
  const commands = it
    .log()
    .map(({ answer }) => answer!.tools.map(({ input }) => (input as { command: string }).command))
  expect(commands).toEqual([
    ['ls', 'echo kept'],
    ['ls', 'echo broken'],
  ])
})
