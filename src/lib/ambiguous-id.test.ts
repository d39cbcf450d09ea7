import { expect, test } from 'vitest'
import { ambiguousId } from './ambiguous-id.js'

test('ids that share a long beginning are named with one character more than they share', () => {
  const { message, hint, exit } = ambiguousId('sessions', 'aaaa', ['aaaaaaaa-1111-4334-1', 'aaaaaaaa-1111-4334-2'])
  expect(message).toBe('2 sessions begin with "aaaa".')
  expect(hint).toBe('Give more of the id: aaaaaaaa-1111-4334-1, aaaaaaaa-1111-4334-2.')
  expect(exit).toBe(2)
})

test('eight characters behind the prefix are shown at least, and four ids at most', () => {
  const ids = ['1', '2', '3', '4', '5'].map((digit) => `brief_ab${digit}0123456789`)
  expect(ambiguousId('briefs', 'brief_ab', ids).hint).toBe(
    'Give more of the id: brief_ab101234, brief_ab201234, brief_ab301234, brief_ab401234, ….',
  )
})
