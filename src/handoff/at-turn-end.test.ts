import { expect, it } from 'vitest'
import { stepAtTurnEnd } from './at-turn-end.js'

const turn = { asked: 1, score: null, hasDraft: false, bar: 0.7, canAsk: true }

it('a good brief is taken', () => expect(stepAtTurnEnd({ ...turn, score: 0.9 })).toBe('take'))

it('one below the bar is asked for once more, and taken then whatever it is', () => {
  expect(stepAtTurnEnd({ ...turn, score: 0.2 })).toBe('ask-again')
  expect(stepAtTurnEnd({ ...turn, score: 0.2, asked: 2 })).toBe('take')
  expect(stepAtTurnEnd({ ...turn, score: 0.2, canAsk: false })).toBe('take')
})

it('who was never asked is asked; who did not answer is not asked again', () => {
  expect(stepAtTurnEnd({ ...turn, asked: 0 })).toBe('ask')
  expect(stepAtTurnEnd(turn)).toBe('write')
  expect(stepAtTurnEnd({ ...turn, asked: 0, canAsk: false })).toBe('write')
})

it('asked again without an answer, the first brief is used', () =>
  expect(stepAtTurnEnd({ ...turn, asked: 2, hasDraft: true })).toBe('take-draft'))
