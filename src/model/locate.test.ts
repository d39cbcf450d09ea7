import { expect, test } from 'vitest'
import { prepareScript } from './book.js'
import { findScriptPosition } from './decide.js'
import { summaryMark, toolId } from './mark.js'
import { toScript } from './parse-script.js'
import { openRequest, type RequestMessage } from './request.js'
import type { ScriptInput } from './script.js'

const at = (script: ScriptInput, messages: RequestMessage[], shelf: 'main' | 'sub' = 'main') => {
  const { cycle, step } = findScriptPosition(
    openRequest(JSON.stringify({ messages }))!,
    shelf,
    prepareScript(toScript(script)),
  )
  return `${cycle}.${step}`
}
const user = (text: string): RequestMessage => ({ role: 'user', content: [{ type: 'text', text }] })
const said = (text: string): RequestMessage => ({ role: 'assistant', content: [{ type: 'text', text }] })
const call = (
  cycle: number,
  step: number,
  more: { part?: number; shelf?: 'main' | 'sub'; reply?: boolean } = {},
): RequestMessage[] => {
  const id = toolId({ shelf: 'main', part: 0, reply: false, ...more, cycle, step }, 0, 'abc')
  return [
    { role: 'assistant', content: [{ type: 'tool_use', id, name: 'Bash', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'ok' }] },
  ]
}
const summary = (cycle: number, steps: number): RequestMessage =>
  user(
    'This session is being continued from a previous conversation.\nSummary:\n' +
      `x ${summaryMark({ part: 0, cycle, steps })}`,
  )

const steps = [{ bash: 'a' }, { bash: 'b' }, 'Turn one.', 'Turn two.']

test('the first request of a conversation is at the first step', () => {
  expect(at({ steps }, [user('go')])).toBe('0.0')
})

test('the id of a tool call names its step, and texts are counted after it', () => {
  expect(at({ steps }, [user('go'), ...call(0, 0)])).toBe('0.1')
  expect(at({ steps }, [user('go'), ...call(0, 0), ...call(0, 1), said('Turn one.'), user('more')])).toBe('0.3')
})

test('messages dropped from the middle of a request do not change its step', () => {
  expect(at({ steps }, [user('go'), ...call(0, 1), said('Turn one.'), user('more')])).toBe('0.3')
})

test('a text that the client inserts in the model’s name is not counted as a step', () => {
  expect(at({ steps }, [user('go'), ...call(0, 0), said('No response requested.'), user('more')])).toBe('0.1')
})

test('a scripted reply is not counted as a step, with or without a tool', () => {
  const replies = [{ when: 'brief', text: 'The brief.' }]
  expect(at({ steps, replies }, [user('go'), ...call(0, 0), said('The brief.'), user('more')])).toBe('0.1')
  expect(at({ steps, replies }, [user('go'), ...call(0, 1), ...call(0, 0, { reply: true })])).toBe('0.2')
})

test('messages kept after a compaction belong to the old cycle', () => {
  expect(at({ steps }, [summary(1, 1), ...call(0, 1)])).toBe('1.0')
  expect(at({ steps }, [summary(1, 1), ...call(0, 1), ...call(1, 0)])).toBe('1.1')
})

test('a kept text is recognised because it is the next answer of the old cycle', () => {
  const script = { steps, after_compaction: ['Turn one.', 'Later.'] }
  expect(at(script, [summary(1, 2), said('Turn one.'), user('go on')])).toBe('1.0')
  expect(at(script, [summary(1, 1), ...call(0, 1), said('Turn one.'), user('go on')])).toBe('1.0')
  expect(at(script, [summary(1, 2), said('Turn one.'), user('go on'), said('Turn one.'), user('and on')])).toBe('1.1')
})

test('each compaction begins the next cycle, and a quoted older summary does not count', () => {
  const second = user(
    `This session is being continued from a previous conversation. ${summaryMark({ part: 0, cycle: 1, steps: 2 })} ` +
      `then ${summaryMark({ part: 0, cycle: 2, steps: 3 })}`,
  )
  expect(at({ steps }, [second])).toBe('2.0')
  expect(at({ steps }, [user(`an old brief: ${summaryMark({ part: 0, cycle: 1, steps: 2 })}`)])).toBe('0.0')
})

test('a summary that the model did not write also begins a new cycle', () => {
  expect(at({ steps }, [user('This session is being continued from a previous conversation. Summary: by hand')])).toBe(
    '1.0',
  )
})

test('a subagent that inherits its parent’s messages begins at its own first step', () => {
  const messages = [user('go'), ...call(0, 0), said('Turn one.'), ...call(0, 3), user('now you')]
  expect(at({ steps }, messages, 'sub')).toBe('0.0')
  expect(at({ steps }, [...messages, ...call(0, 0, { shelf: 'sub' })], 'sub')).toBe('0.1')
})

test('the conversation is chosen by its first prompt and then recognised by its own tool call ids', () => {
  const script: ScriptInput = {
    conversations: [
      { when: 'alpha', steps: ['A.'] },
      { when: { seen: '/bet+a/' }, steps: ['B.'] },
    ],
  }
  const part = (messages: RequestMessage[]) =>
    findScriptPosition(openRequest(JSON.stringify({ messages }))!, 'main', prepareScript(toScript(script))).part
  expect(part([user('Alpha please')])).toBe(0)
  expect(part([user('<system-reminder>alpha</system-reminder>'), user('something')])).toBe(2)
  expect(part([user('<system-reminder>betta</system-reminder>'), user('something')])).toBe(1)
  expect(part([user('go'), said('alpha'), user('alpha')])).toBe(2)
  expect(part([user('alpha'), ...call(0, 0, { part: 1 })])).toBe(1)
})
