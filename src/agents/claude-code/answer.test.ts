import { expect, test } from 'vitest'
import { hookAnswer, recipientsOfAnswer } from './answer.js'

const say = { agent: '[baton] for the agent', user: 'for the user' }

test.each(['SessionStart', 'UserPromptSubmit', 'PreToolUse', 'PostToolUse', 'PostToolUseFailure', 'PostToolBatch'])(
  'an answer to %s reaches agent and user',
  (event) => {
    expect(recipientsOfAnswer(event)).toEqual({ agent: true, user: true })
    expect(JSON.parse(hookAnswer(event, say))).toEqual({
      systemMessage: 'for the user',
      hookSpecificOutput: { hookEventName: event, additionalContext: '[baton] for the agent' },
    })
  },
)

test.each(['Stop', 'PostCompact'])(
  'an answer to %s reaches only the user, because the agent would be forced to continue or cannot be reached',
  (event) => {
    expect(recipientsOfAnswer(event)).toEqual({ agent: false, user: true })
    expect(JSON.parse(hookAnswer(event, say))).toEqual({ systemMessage: 'for the user' })
    expect(hookAnswer(event, { agent: 'x', user: null })).toBe('')
  },
)

test('an answer to PreCompact reaches nobody, because the client passes its text to the summariser', () => {
  expect(recipientsOfAnswer('PreCompact')).toEqual({ agent: false, user: false })
  expect(hookAnswer('PreCompact', say)).toBe('')
})

test.each(['SessionEnd', 'StopFailure', 'SubagentStop', 'Notification', 'PermissionRequest', 'Telepathy'])(
  'an answer to %s reaches nobody',
  (event) => {
    expect(recipientsOfAnswer(event)).toEqual({ agent: false, user: false })
    expect(hookAnswer(event, say)).toBe('')
  },
)

test('the answer to a status line is the text itself', () => {
  expect(recipientsOfAnswer('status-line')).toEqual({ agent: false, user: true })
  expect(hookAnswer('status-line', { agent: 'x', user: 'ctx 30 %' })).toBe('ctx 30 %')
  expect(hookAnswer('status-line', { agent: null, user: null })).toBe('')
})

test('an answer without texts prints nothing', () => {
  expect(hookAnswer('PostToolBatch', { agent: null, user: null })).toBe('')
  expect(hookAnswer('PostToolBatch', { agent: '', user: '' })).toBe('')
  expect(JSON.parse(hookAnswer('PostToolBatch', { agent: 'a', user: null }))).not.toHaveProperty('systemMessage')
})

test('a text longer than the client accepts is cut, and names the file with the whole text', () => {
  const said = (agentFile: string | null): string =>
    JSON.parse(hookAnswer('SessionStart', { agent: 'é'.repeat(20_000), user: null, agentFile })).hookSpecificOutput
      .additionalContext
  expect(said('/b/brief.md')).toHaveLength(9_900)
  expect(said('/b/brief.md')).toMatch(/é\n\n\[baton\] .* \/b\/brief\.md$/)
  expect(said(null)).toHaveLength(9_900)
  expect(said(null)).toMatch(/é\n\n\[baton\] [^\n]+$/)
})

test('a text of exactly the maximum length is passed whole', () => {
  const text = 'x'.repeat(9_900)
  expect(JSON.parse(hookAnswer('SessionStart', { agent: text, user: null })).hookSpecificOutput.additionalContext).toBe(
    text,
  )
})
