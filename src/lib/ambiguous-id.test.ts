import { expect, test } from 'vitest'
import { ambiguousId } from './ambiguous-id.js'

test('an ambiguous-id error shows one character more than the ids have in common', () => {
  const { message, hint, exit } = ambiguousId('sessions', 'aaaa', ['aaaaaaaa-1111-4334-1', 'aaaaaaaa-1111-4334-2'])
  expect(message).toBe('2 sessions begin with "aaaa".')
  expect(hint).toBe('Give more characters of the id: aaaaaaaa-1111-4334-1, aaaaaaaa-1111-4334-2.')
  expect(exit).toBe(2)
})

test('an ambiguous-id error shows at least eight characters of each id, and at most four ids', () => {
  const ids = ['1', '2', '3', '4', '5'].map((digit) => `brief_ab${digit}0123456789`)
  expect(ambiguousId('briefs', 'brief_ab', ids).hint).toBe(
    'Give more characters of the id: brief_ab101234, brief_ab201234, brief_ab301234, brief_ab401234, ….',
  )
})
