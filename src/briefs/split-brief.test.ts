import { describe, expect, test } from 'vitest'
import { splitBrief } from './split-brief.js'

const names = (body: string): unknown[] => splitBrief(body).map(({ name, heading }) => name ?? heading)

test('sections are split at their common heading level, and lower headings stay inside', () => {
  const body = '# Handoff brief\nintro\n## State\nfine\n### Files of interest\n- a.ts\n## Next\ngo'
  expect(names(body)).toEqual(['Handoff brief', 'state', 'next'])
  expect(splitBrief(body)[1]!.text).toBe('## State\nfine\n### Files of interest\n- a.ts')
})

test('headings in code are not headings', () => {
  expect(names('## State\n```\n## Next\n```\n~~~md\n## Done\n~~~')).toEqual(['state'])
})

test('bold lines are headings if there are no others', () => {
  expect(names('**State**\nfine\n\n**Next steps:**\ngo')).toEqual(['state', 'next'])
})

test('the parts of a split brief contain every line', () => {
  const body = 'before\n\n## State\na\n\n## Strange\nb\n## Next\nc'
  expect(
    splitBrief(body)
      .map(({ text }) => text)
      .join('\n')
      .replace(/\n+/g, '\n'),
  ).toBe(body.replace(/\n+/g, '\n'))
})

test.each([
  [
    'sections one level below the usual',
    '# Handoff brief\n## Summary\n### Goal\na\n### State\nb\n### Next step\nc',
    ['Handoff brief', 'Summary', 'goal', 'state', 'next'],
  ],
  [
    'sections under the title at the third level',
    '# Handoff brief\n### Goal\na\n### Next step\nc',
    ['Handoff brief', 'goal', 'next'],
  ],
  [
    'every section at the level of the title',
    '# Handoff brief\n# Goal\na\n# State\nb\n## Files\nx\n## Tests\ny\n## Decisions\nz\n# Next step\nc',
    ['Handoff brief', 'goal', 'state', 'next'],
  ],
  [
    'few sections with more below them',
    '# Handoff brief\n## State\na\n### Files\nx\n### Tests\ny\n### Decisions\nz\n## Next step\nc',
    ['Handoff brief', 'state', 'next'],
  ],
  [
    'one section above all the others',
    '# Handoff brief\n## Status\n### Goal\na\n### Done\nb\n### Next step\nc\n### Files\nd',
    ['Handoff brief', 'state', 'goal', 'done', 'next', 'files'],
  ],
  ['two sections at two levels', '# Handoff brief\n## State\na\n### Next step\nb', ['Handoff brief', 'state', 'next']],
  [
    'a title with the words of a section',
    '# Handoff brief: fix the failing tests\n## Next step\nb',
    ['Handoff brief: fix the failing tests', 'next'],
  ],
  ['bold lines under a title', '# Handoff brief\n**Goal**\na\n**Next step:**\nb', ['Handoff brief', 'goal', 'next']],
  [
    'bold lines inside sections',
    '# Handoff brief\n## State\n**Files**\na\n**Tests**\nb\n**Decisions**\nc\n## Next step\nd',
    ['Handoff brief', 'state', 'next'],
  ],
  [
    'bold words with the text behind them',
    '# Handoff brief\n**Goal:** a\n- **Next step**: b\n**Note:** c',
    ['Handoff brief', 'goal', 'next'],
  ],
  [
    'bold words inside sections',
    '# Handoff brief\n## State\n**Files:** a\n**Tests:** b\n## Next step\nc',
    ['Handoff brief', 'state', 'next'],
  ],
  ['sections nobody asked for', '# Handoff brief\n### Alpha\na\n### Beta\nb', ['Handoff brief', 'Alpha', 'Beta']],
  ['nothing but the title', '# Handoff brief\nall in one', ['Handoff brief']],
])('the level of the sections is found with %s', (_, body, expected) => {
  expect(names(body)).toEqual(expected)
})

const ADDED =
  '\n\n## Added by Baton\n\n### Files changed\n\n- a.ts\n\n### Open todos\n\n- b\n\n### Commands to verify\n\n- c'

test.each([
  '# Handoff brief\n# Goal\na\n# Next step\nb',
  '# Handoff brief\n## Goal\na\n## Next step\nb',
  '# Handoff brief\n### Goal\na\n### Next step\nb',
  '# Handoff brief\n**Goal**\na\n**Next step**\nb',
])("Baton's appended section is a part of its own in a brief like %j", (body) => {
  const parts = splitBrief(`${body}${ADDED}\n\n## Found later\n\nmore`)
  expect(parts.map(({ name, heading }) => name ?? heading)).toEqual([
    'Handoff brief',
    'goal',
    'next',
    'Added by Baton',
    'Found later',
  ])
  expect(parts.map(({ added }) => added)).toEqual([false, false, false, true, false])
  expect(parts[3]!.text).toContain('### Commands to verify')
})

describe('a text that is no brief', () => {
  test('a text with very many headings has a limited number of parts', () => {
    const parts = splitBrief('## Goal\nx\n'.repeat(5_000))
    expect(parts).toHaveLength(2_000)
    expect(parts.at(-1)!.text.length).toBeGreaterThan(20_000)
  })
})
