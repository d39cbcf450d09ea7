import { expect, test } from 'vitest'
import { turnOutputTokens } from './sdk.js'

test('only the result of a turn has the total output of its answers', () => {
  expect(turnOutputTokens({ type: 'result', usage: { output_tokens: 160 } })).toBe(160)
  expect(turnOutputTokens({ type: 'result' })).toBeNull()
  expect(
    turnOutputTokens({ type: 'assistant', message: { usage: { output_tokens: 1 } }, usage: { output_tokens: 1 } }),
  ).toBeNull()
  expect(turnOutputTokens('result')).toBeNull()
})
