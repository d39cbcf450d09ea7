import { expect, test } from 'vitest'
import { EXIT } from '../lib/errors.js'
import { refusePlatform } from './platform.js'

test('Linux and macOS are served, Windows is refused with a sentence', () => {
  expect(refusePlatform('linux')).toBeNull()
  expect(refusePlatform('darwin')).toBeNull()
  expect(refusePlatform('win32')).toMatchObject({ message: 'Baton runs on Linux and macOS, not on Windows.', exit: EXIT.refused })
})
