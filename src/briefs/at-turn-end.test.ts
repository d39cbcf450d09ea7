import { expect, test } from 'vitest'
import { stepAtTurnEnd } from './request-text.js'

const turn = { asked: 1, score: null, isShown: false, hasDraft: false, bar: 0.7, canAsk: true }

test('a good brief is taken at the end of a turn', () => expect(stepAtTurnEnd({ ...turn, score: 0.9 })).toBe('take'))

test('a brief below the minimum score is requested once more and then taken in any case', () => {
  expect(stepAtTurnEnd({ ...turn, score: 0.2 })).toBe('ask-again')
  expect(stepAtTurnEnd({ ...turn, score: 0.2, asked: 2 })).toBe('take')
  expect(stepAtTurnEnd({ ...turn, score: 0.2, canAsk: false })).toBe('take')
})

test('an agent that was never asked is asked, and one that did not answer is not asked again', () => {
  expect(stepAtTurnEnd({ ...turn, asked: 0 })).toBe('ask')
  expect(stepAtTurnEnd(turn)).toBe('write')
  expect(stepAtTurnEnd({ ...turn, asked: 0, canAsk: false })).toBe('write')
})

test('without an answer to the second request, the first brief is used', () =>
  expect(stepAtTurnEnd({ ...turn, asked: 2, hasDraft: true })).toBe('take-draft'))

test('a brief that was only shown in a fence is requested once more', () => {
  expect(stepAtTurnEnd({ ...turn, isShown: true })).toBe('ask')
  expect(stepAtTurnEnd({ ...turn, isShown: true, asked: 2 })).toBe('write')
  expect(stepAtTurnEnd({ ...turn, isShown: true, canAsk: false })).toBe('write')
})
