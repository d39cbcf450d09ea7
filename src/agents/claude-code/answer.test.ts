import { expect, test } from 'vitest'
import { answer, carries } from './answer.js'

const say = { agent: '[baton] for the agent', user: 'for the user' }

test.each(['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'PostToolBatch'])(
  '%s reaches both',
  (event) => {
    expect(carries(event)).toEqual({ agent: true, user: true })
    expect(JSON.parse(answer(event, say))).toEqual({
      systemMessage: 'for the user',
      hookSpecificOutput: { hookEventName: event, additionalContext: '[baton] for the agent' },
    })
  },
)

test.each(['Stop', 'PostCompact'])(
  '%s reaches the user alone: the agent would be forced on, or cannot be told',
  (event) => {
    expect(carries(event)).toEqual({ agent: false, user: true })
    expect(JSON.parse(answer(event, say))).toEqual({ systemMessage: 'for the user' })
    expect(answer(event, { agent: 'x', user: null })).toBe('')
  },
)

test('PreCompact reaches nobody but the summariser: whatever its hook prints is an order to it', () => {
  expect(carries('PreCompact')).toEqual({ agent: false, user: false })
  expect(answer('PreCompact', say)).toBe('')
})

test.each(['SessionEnd', 'StopFailure', 'SubagentStop', 'Notification', 'PermissionRequest', 'Telepathy'])(
  '%s reaches nobody',
  (event) => {
    expect(carries(event)).toEqual({ agent: false, user: false })
    expect(answer(event, say)).toBe('')
  },
)

test('the status line is the text itself', () => {
  expect(carries('status-line')).toEqual({ agent: false, user: true })
  expect(answer('status-line', { agent: 'x', user: 'ctx 30 %' })).toBe('ctx 30 %')
  expect(answer('status-line', { agent: null, user: null })).toBe('')
})

test('nothing to say prints nothing', () => {
  expect(answer('PostToolBatch', { agent: null, user: null })).toBe('')
  expect(answer('PostToolBatch', { agent: '', user: '' })).toBe('')
  expect(JSON.parse(answer('PostToolBatch', { agent: 'a', user: null }))).not.toHaveProperty('systemMessage')
})

test('a text longer than the client takes is cut, and names the file that holds it whole', () => {
  const said = (agentFile: string | null): string =>
    JSON.parse(answer('SessionStart', { agent: 'é'.repeat(20_000), user: null, agentFile })).hookSpecificOutput
      .additionalContext
  expect(said('/b/brief.md')).toHaveLength(9_900)
  expect(said('/b/brief.md')).toMatch(/é\n\n\[baton\] .* Read the whole text in \/b\/brief\.md$/)
  expect(said(null)).toHaveLength(9_900)
  expect(said(null)).toMatch(/too long to be given here\.$/)
})

test('a text of exactly the length the client takes passes whole', () => {
  const text = 'x'.repeat(9_900)
  expect(JSON.parse(answer('SessionStart', { agent: text, user: null })).hookSpecificOutput.additionalContext).toBe(
    text,
  )
})
