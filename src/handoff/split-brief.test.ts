import { expect, test } from 'vitest'
import { splitBrief } from './split-brief.js'

const names = (body: string): unknown[] => splitBrief(body).map(({ name, heading }) => name ?? heading)

test('sections are told apart at the level most of them stand at, what is below stays inside', () => {
  const body = '# Handoff brief\nintro\n## State\nfine\n### Files of interest\n- a.ts\n## Next\ngo'
  expect(names(body)).toEqual(['Handoff brief', 'state', 'next'])
  expect(splitBrief(body)[1]!.text).toBe('## State\nfine\n### Files of interest\n- a.ts')
})

test('headings in code are no headings', () => {
  expect(names('## State\n```\n## Next\n```\n~~~md\n## Done\n~~~')).toEqual(['state'])
})

test('bold lines are headings where nothing else is', () => {
  expect(names('**State**\nfine\n\n**Next steps:**\ngo')).toEqual(['state', 'next'])
})

test('nothing is lost: the parts hold every line', () => {
  const body = 'before\n\n## State\na\n\n## Strange\nb\n## Next\nc'
  expect(
    splitBrief(body)
      .map(({ text }) => text)
      .join('\n')
      .replace(/\n+/g, '\n'),
  ).toBe(body.replace(/\n+/g, '\n'))
})
