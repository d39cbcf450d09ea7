import { expect, test } from 'vitest'
import { summaryText } from './summary-text.js'

test.each([
  ['<analysis>\nscratch\n</analysis>\n\n<summary>\n1. Fix it.\n</summary>', '1. Fix it.'],
  ['<summary>cut off in the mid', 'cut off in the mid'],
  ['<analysis>a</analysis>\nplain', 'plain'],
  ['plain, with no tags', 'plain, with no tags'],
  ['<analysis>only this</analysis>', null],
  [null, null],
])('the analysis of a summariser is not part of its summary: %j', (written, summary) => {
  expect(summaryText(written)).toBe(summary)
})
