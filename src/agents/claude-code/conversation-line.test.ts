import { describe, expect, test } from 'vitest'
import { entriesOfLine } from './conversation-line.js'

describe('one line of a transcript', () => {
  const prompt = JSON.stringify({
    type: 'user',
    uuid: 'u',
    isSidechain: false,
    message: { role: 'user', content: 'Fix the login' },
  })

  test('a line yields its entries with its number', () => {
    expect(entriesOfLine(prompt, 7, 'main')).toMatchObject([
      { kind: 'said', by: 'user', text: 'Fix the login', line: 7 },
    ])
  })

  test("a subagent's line yields nothing for the main chain, and vice versa", () => {
    expect(entriesOfLine(prompt, 1, 'subagent')).toEqual([])
    expect(entriesOfLine(prompt.replace('false', 'true'), 1, 'subagent')).toHaveLength(1)
  })

  test("a line yields a compaction's summary without the boundary, which is in another line", () => {
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

  test('a line that cannot be parsed yields nothing', () => {
    for (const line of ['', '{"type":"user"', 'null', '[]', '"text"', '{}'])
      expect(entriesOfLine(line, 1, 'main')).toEqual([])
  })
})
