import { expect, test } from 'vitest'
import { turnOutput } from './sdk.js'

test('only the result of a turn has the total output of its answers', () => {
  expect(turnOutput({ type: 'result', usage: { output_tokens: 160 } })).toBe(160)
  expect(turnOutput({ type: 'result' })).toBeNull()
  expect(
    turnOutput({ type: 'assistant', message: { usage: { output_tokens: 1 } }, usage: { output_tokens: 1 } }),
  ).toBeNull()
  expect(turnOutput('result')).toBeNull()
})
