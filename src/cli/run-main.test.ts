import { expect, test } from 'vitest'
import { BatonError, EXIT } from '../lib/errors.js'
import { formatError, refusePlatform } from './run-main.js'

test('Baton runs on Linux and macOS, and refuses Windows with a sentence', () => {
  expect(refusePlatform('linux')).toBeNull()
  expect(refusePlatform('darwin')).toBeNull()
  expect(refusePlatform('win32')).toMatchObject({
    message: 'Baton runs on Linux and macOS, not on Windows.',
    exit: EXIT.refused,
  })
})

test('an error about a path with terminal sequences prints none of them and keeps its line breaks', () => {
  const error = new BatonError('/tmp/a\u001b]0;title\u0007b is not trusted.\nIt sets hooks.', 'See \u001b[2J/tmp.')
  const { text } = formatError(error, false, (plain) => plain)
  expect(text).toBe('baton: /tmp/a ]0;title b is not trusted.\nIt sets hooks.\n       See  [2J/tmp.')
})
