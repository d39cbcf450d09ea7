import { expect, test } from 'vitest'
import { BatonError, EXIT, errorCodeOf, reasonOf } from './errors.js'

test('an error carries a hint and the exit code of the command', () => {
  expect(new BatonError('No.', 'Try this.')).toMatchObject({
    message: 'No.',
    hint: 'Try this.',
    exit: EXIT.failed,
    details: {},
  })
  expect(new BatonError('No.', '', EXIT.refused)).toMatchObject({ exit: 4, name: 'BatonError' })
})

test('the documented exit codes never change', () => {
  expect(EXIT).toEqual({ done: 0, failed: 1, usage: 2, notFound: 3, refused: 4, resumable: 5 })
})

test('a reason and a code are found in any thrown value', () => {
  expect([new Error('why'), 'why', 42, null].map(reasonOf)).toEqual(['why', 'why', '42', 'null'])
  expect(
    [Object.assign(new Error(), { code: 'ENOENT' }), { code: 5 }, new Error(), null, 'x'].map(errorCodeOf),
  ).toEqual(['ENOENT', '5', undefined, undefined, undefined])
})
