import { afterEach, describe, expect, test } from 'vitest'
import { copies, textsOf } from './log.js'
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

async function ask(to: Model, messages: Message[], more: object = {}, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${to.url}/v1/messages`, { method: 'POST', headers, body: JSON.stringify(body(messages, more)) })
}

/** Goes on with a conversation as the client does: answer, then tool results, until the turn ends. */
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

describe('the scripted model over HTTP', () => {
  test('answers the steps in order with the figures of the script', async () => {
    const m = await model({ steps: [{ bash: 'echo {{n}}', used: 50_008, grow: 15_000, repeat: 6 }, 'Done.'] })
    const answers = await converse(m, [prompt('go')])
    expect(answers.map((a) => used(a.usage))).toEqual([50_008, 65_008, 80_008, 95_008, 110_008, 125_008, 126_008])
    expect(answers.at(-1)?.content).toEqual([{ type: 'text', text: 'Done.' }])
  })
})

test('shows every text of a request', async () => {
  const m = await model({ steps: ['Hello.'] })
  await ask(m, [prompt('find me'), { role: 'system', content: 'and find me' }], { system: [{ type: 'text', text: 'rules' }] })
  expect(textsOf(m.log()[0]!)).toEqual(['rules', 'find me', 'and find me'])
  expect(copies(m.log()[0]!, 'find me')).toBe(2)
})
