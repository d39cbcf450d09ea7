import { expect, test } from 'vitest'
import { claimedFiles } from './claimed-files.js'

const said = (text: string, heading = 'Done'): string[] => claimedFiles(`# Handoff brief\n\n## ${heading}\n${text}\n`)

test.each([
  ['- Created `src/retry.ts` with the back-off.', ['src/retry.ts']],
  ['1. Edited src/a.ts and src/b.ts to sort by date.', ['src/a.ts', 'src/b.ts']],
  ['The tests pass. I also rewrote the file `parse.js`; it is faster.', ['parse.js']],
  ['src/a.ts was rewritten, and the build is green.', ['src/a.ts']],
  ['- `notes.md` (new): what was found', ['notes.md']],
  ['- changed: b.ts', ['b.ts']],
  ['Changed files:\n- src/a.ts\n- src/b.ts\nVerified:\n- src/c.ts', ['src/a.ts', 'src/b.ts']],
  ['Deleted docs/old.md', ['docs/old.md']],
])('a sentence claims a changed file: %s', (text, files) => {
  expect(said(text)).toEqual(files)
  expect(said(text, 'State')).toEqual(files)
})

test('a sentence claims changed files also in a section that was not requested', () => {
  expect(said('Created src/a.ts.', 'What happened so far')).toEqual(['src/a.ts'])
})

test.each([
  'Read src/a.ts; the wait is in src/b.ts.',
  'Added src/a.ts to the list of ignored files.',
  'Removed `src/a.ts` from tsconfig.json',
  'src/a.ts was added to .gitignore.',
  'Updated Node.js and added Vue.js.',
  'src/a.ts is not changed yet. Created nothing.',
  'If src/a.ts was changed, run the build.',
  'src/a.ts was changed by the formatter of somebody else.',
  'Added a test for src/a.ts.',
  'Changed how src/a.ts is read.',
  'Tried: edited src/a.ts by hand, reverted.',
  '> Changed src/a.ts',
  '```\nChanged src/a.ts\n```',
  'Fixed the order that src/a.ts relies on.',
  'tests/a.test.ts - new failure since Monday',
])('a sentence claims no changed file: %s', (text) => {
  expect(said(text)).toEqual([])
  expect(said(text, 'State')).toEqual([])
})

test.each([
  'Next exact step',
  'Open questions',
  'Constraints from the user',
  'Last user request',
  'Goal and why',
  'Commands to verify',
])('nothing is claimed under the heading %s', (heading) => {
  expect(said('Changed src/a.ts.\nChanged:\n- src/b.ts', heading)).toEqual([])
})
