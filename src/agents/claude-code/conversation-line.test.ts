import { describe, expect, test } from 'vitest'
import { entriesOfLine } from './conversation-line.js'

describe('one line of a transcript', () => {
  const prompt = JSON.stringify({
    type: 'user',
    uuid: 'u',
    isSidechain: false,
    message: { role: 'user', content: 'Fix the login' },
  })

  test('tells its entries with its number', () => {
    expect(entriesOfLine(prompt, 7, 'main')).toMatchObject([
      { kind: 'said', by: 'user', text: 'Fix the login', line: 7 },
    ])
  })

  test('of a subagent tells nothing to the main chain, and the other way round', () => {
    expect(entriesOfLine(prompt, 1, 'subagent')).toEqual([])
    expect(entriesOfLine(prompt.replace('false', 'true'), 1, 'subagent')).toHaveLength(1)
  })

  test('tells a compaction’s summary although the boundary stands in another line', () => {
    const summary = {
      type: 'user',
      uuid: 's',
      isSidechain: false,
      isCompactSummary: true,
      message: { content: 'We fixed it.' },
    }
    expect(entriesOfLine(JSON.stringify(summary), 3, 'main')).toMatchObject([
      { kind: 'compacted', summary: 'We fixed it.' },
    ])
  })

  test('that cannot be read tells nothing', () => {
    for (const line of ['', '{"type":"user"', 'null', '[]', '"text"', '{}'])
      expect(entriesOfLine(line, 1, 'main')).toEqual([])
  })
})
