import { expect, test } from 'vitest'
import { folderOf, openRequest, promptText, senderOf, textsIn } from './request.js'

const open = (body: object) => openRequest(JSON.stringify({ messages: [], ...body }))!
const user_id = JSON.stringify({ device_id: 'd', session_id: '0b1c' })
const user = (text: string) => ({ role: 'user', content: [{ type: 'text', text }] })
const kind = (body: object, headers = {}) => senderOf(open({ metadata: { user_id }, ...body }), headers).kind
const tools = [{ name: 'Bash' }]

test('a request with tools is of the main chain, and one with an agent id is of a subagent', () => {
  expect(kind({ tools, messages: [user('go')] })).toBe('main')
  expect(kind({ tools, messages: [user('go')] }, { 'x-claude-code-agent-id': 'a1' })).toBe('subagent')
})

test('a request without tools is of the main chain if it thinks or manages its context', () => {
  expect(kind({ tools: [], thinking: { type: 'adaptive' } })).toBe('main')
  expect(kind({ tools: [], context_management: {} })).toBe('main')
})

test('requests for titles and searches are side requests', () => {
  expect(kind({ tools: [], messages: [user('<session>go</session>')] })).toBe('side')
  expect(kind({ messages: [user('name it')] })).toBe('side')
  expect(kind({ tools: [{ type: 'web_search_20250305', name: 'web_search' }] })).toBe('side')
})

test('a request of an unknown client is of the main chain', () => {
  expect(senderOf(open({ messages: [user('go')] }), {}).kind).toBe('main')
})

test('the client’s compaction prompt is recognised, and a conversation about summaries is not', () => {
  const ask =
    'Respond with TEXT ONLY … Your task is to create a detailed summary of the conversation so far … <summary>'
  expect(
    kind({
      tools,
      messages: [
        user('go'),
        {
          role: 'user',
          content: [
            { type: 'tool_result', content: 'x' },
            { type: 'text', text: ask },
          ],
        },
      ],
    }),
  ).toBe('compaction')
  expect(kind({ tools, messages: [user('Please create a detailed summary of the README')] })).toBe('main')
})

test('the session id is read from the header, or else from the metadata', () => {
  const request = open({ metadata: { user_id } })
  expect(senderOf(request, { 'x-claude-code-session-id': 'h' }).session).toBe('h')
  expect(senderOf(request, {}).session).toBe('0b1c')
  const older = open({ metadata: { user_id: 'user_x_account__session_11111111-2222-3333-4444-555555555555' } })
  expect(senderOf(older, {}).session).toBe('11111111-2222-3333-4444-555555555555')
})

test('requests without a session are distinguished by their first messages', () => {
  const key = (text: string) => senderOf(open({ messages: [user(text)] }), {}).key
  expect(key('one')).toBe(key('one'))
  expect(key('one')).not.toBe(key('two'))
})

test('texts are found in every part of a request that the model sees', () => {
  const content = [
    'bare',
    { type: 'text', text: 'text' },
    { type: 'thinking', thinking: 'thought' },
    { type: 'tool_use', input: { command: 'ls' } },
    { type: 'tool_result', content: [{ type: 'text', text: 'result' }, { type: 'image' }] },
    { type: 'tool_result', content: 'plain' },
    null,
  ]
  expect(textsIn(content)).toEqual(['bare', 'text', 'thought', '{"command":"ls"}', 'result', 'plain'])
})

test('the prompt is the text that the user typed, without the client’s notes', () => {
  const request = open({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: '<system-reminder>x</system-reminder>' },
          { type: 'text', text: 'go' },
        ],
      },
      { role: 'system', content: 'more' },
    ],
  })
  expect(promptText(request)).toBe('go')
})

test('the client’s folder is read from the text of its request', () => {
  expect(folderOf(open({ messages: [user('# Environment\n - Primary working directory: /a b/c\n - Platform')] }))).toBe(
    '/a b/c',
  )
  expect(folderOf(open({}))).toBeNull()
})

test('a body that is not a Messages API request gives null', () => {
  expect(openRequest('{')).toBeNull()
  expect(openRequest('null')).toBeNull()
  expect(openRequest('{"model":"x"}')).toBeNull()
})
