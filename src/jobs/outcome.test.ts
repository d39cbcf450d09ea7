import { describe, expect, test } from 'vitest'
import type { RuntimeMessage } from '../contract/runtime.js'
import { outcomeOf, outcomeWithoutAnswer } from './outcome.js'

type Result = Extract<RuntimeMessage, { kind: 'result' }>
const usage = { input: 0, output: 0, cacheCreation: 0, cacheRead: 0 }
const result = (change: Partial<Result>): Result => ({
  kind: 'result',
  terminal: 'completed',
  isError: false,
  status: null,
  text: 'Done.',
  turns: 1,
  spend: { usage, costUsd: null },
  ofPrompt: true,
  ...change,
})

describe('the outcome of a turn', () => {
  test.each([
    [{}, { how: 'done', text: 'Done.' }],
    [
      { terminal: 'hook_stopped', text: '' },
      { how: 'hook', detail: '' },
    ],
    [{ terminal: 'max_turns', isError: true }, { how: 'turns' }],
    [{ terminal: 'budget_exhausted', isError: true }, { how: 'budget' }],
    [
      { terminal: 'prompt_too_long', isError: true, text: 'Prompt is too long' },
      { how: 'too-long', detail: 'Prompt is too long' },
    ],
    [{ terminal: 'blocking_limit', isError: true, text: 'Prompt is too long' }, { how: 'too-long' }],
    [
      { terminal: 'rapid_refill_breaker', isError: true, text: '' },
      { how: 'too-long', detail: 'rapid_refill_breaker' },
    ],
    [
      { terminal: 'api_error', isError: true, status: 529, text: 'Overloaded' },
      { how: 'trouble', detail: 'Overloaded' },
    ],
    [{ terminal: 'api_error', isError: true, status: null, text: 'Connection error.' }, { how: 'trouble' }],
    [
      { terminal: 'api_error', isError: true, status: 429 },
      { how: 'limited', until: null },
    ],
    [
      { terminal: 'api_error', isError: true, status: 401, text: 'Invalid key\nmore' },
      { how: 'refused', status: 401, detail: 'Invalid key' },
    ],
    [
      { terminal: 'aborted_tools', isError: true, text: '' },
      { how: 'trouble', detail: 'aborted_tools' },
    ],
    [
      { terminal: 'aborted_tools', isError: false, text: '' },
      { how: 'trouble', detail: 'aborted_tools' },
    ],
  ] as [Partial<Result>, object][])('the result %o is interpreted correctly', (change, expected) => {
    expect(outcomeOf(result(change), null)).toMatchObject(expected)
  })

  test('a plan limit that the client reported is the cause of a failed turn, with its reset time', () => {
    const told = { resetsAt: '2026-11-16T09:00:00.000Z' }
    expect(outcomeOf(result({ terminal: 'api_error', isError: true, status: 429 }), told)).toMatchObject({
      how: 'limited',
      until: told.resetsAt,
    })
    expect(outcomeOf(result({}), told)).toMatchObject({ how: 'done' })
  })
})

test('a turn without an answer was a client command or a prompt that does not fit', () => {
  expect(outcomeWithoutAnswer({ how: 'done', text: '' }, 1, 'x', true)).toBeNull()
  expect(outcomeWithoutAnswer({ how: 'done', text: '' }, 0, '/clear', true)).toMatchObject({
    how: 'refused',
    detail: expect.stringMatching(/as a command/),
  })
  const long = outcomeWithoutAnswer({ how: 'too-long', detail: 'Prompt is too long' }, 0, 'x'.repeat(1_000_000), true)
  expect(long).toMatchObject({
    how: 'refused',
    detail: expect.stringMatching(/1,000,000 characters.*Prompt is too long/),
  })
  expect(outcomeWithoutAnswer({ how: 'too-long', detail: '' }, 3, 'x', true)).toBeNull()
  expect(outcomeWithoutAnswer({ how: 'too-long', detail: '' }, 0, 'x', false)).toBeNull()
  const speechless = { how: 'died', detail: 'unknown option', speechless: true } as const
  expect(outcomeWithoutAnswer(speechless, 0, 'x', true)).toEqual({
    how: 'refused',
    status: null,
    detail: 'unknown option',
  })
  expect(outcomeWithoutAnswer(speechless, 0, 'x', false)).toBeNull()
  expect(outcomeWithoutAnswer({ how: 'died', detail: '' }, 0, 'x', true)).toBeNull()
})
