import { expect, test } from 'vitest'
import { titleOfPrompt } from './finish-job.js'

test.each([
  ['\n\n# Mend the parser\n\nIt drops the last line.', 'Mend the parser'],
  [`${'very '.repeat(30)}long`, `${'very '.repeat(13)}very…`],
  ['\n', 'A job'],
])('a pull request for the prompt %j has the title %j', (prompt, title) => {
  expect(titleOfPrompt(prompt)).toBe(title)
})
