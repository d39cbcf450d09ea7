import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, test } from 'vitest'
import { BriefText, firstAddedLine, foldUnchanged, inlineSpans, lineDiff, parseMarkdown } from './brief-text.js'

const html = (text: string, added: string[] = []): string =>
  renderToStaticMarkup(createElement(BriefText, { text, added }))

describe('the text of a brief', () => {
  test('the text of a brief is parsed into headings, lists, quotations and code', () => {
    expect(
      parseMarkdown('# Goal\n\nOne\ntwo\n- a\n  more\n  1. b\n- [x] c\n> said\n```sh\nnpm test\n\n```\n---\n|a|b|'),
    ).toEqual([
      { kind: 'heading', line: 0, level: 1, text: 'Goal' },
      { kind: 'paragraph', line: 2, text: 'One\ntwo' },
      {
        kind: 'list',
        line: 4,
        items: [
          { depth: 0, mark: null, done: null, text: 'a\nmore' },
          { depth: 1, mark: '1.', done: null, text: 'b' },
          { depth: 0, mark: null, done: true, text: 'c' },
        ],
      },
      { kind: 'quote', line: 8, text: 'said' },
      { kind: 'code', line: 9, text: 'npm test\n' },
      { kind: 'rule', line: 13 },
      { kind: 'code', line: 14, text: '|a|b|' },
    ])
  })

  test('the rendered brief contains every word of its text', () => {
    const odd =
      '#no heading\n*not a list\n**open\n`also\n<details>\n<!-- hidden? -->\n[a](javascript:alert(1))\n```\nunclosed'
    const words = html(odd).replace(/<[^>]*>/g, ' ')
    for (const word of ['#no heading', '*not a list', '**open', '`also', 'hidden?', 'javascript:alert(1)', 'unclosed'])
      expect(words).toContain(word)
  })

  test('HTML in a brief is shown as text', () => {
    const shown = html(
      '<script>alert(1)</script>\n\n- <img src=x onerror=alert(1)>\n\n# <b>`<i>`</b>\n\n[x](https://a.example)',
    )
    expect(shown).not.toMatch(/<(script|img|b|i|a)\b/)
    expect(shown).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  })

  test('code and emphasis are recognised only where they are closed', () => {
    expect(inlineSpans('a `b*` **c d** 2 ** 3 ``e`f``')).toEqual([
      { kind: 'text', text: 'a ' },
      { kind: 'code', text: 'b*' },
      { kind: 'text', text: ' ' },
      { kind: 'strong', text: 'c d' },
      { kind: 'text', text: ' 2 ** 3 ' },
      { kind: 'code', text: 'e`f' },
    ])
  })
})

describe('additions of Baton', () => {
  const text = '# Brief\n\nMine.\n\n## Added by Baton\n\n- Never touch the migrations\n'

  test('text that Baton added to a brief is shown in a section of its own', () => {
    const shown = html(text, ['## Added by Baton', '', '- Never touch the migrations'])
    expect(shown.indexOf('Mine.')).toBeLessThan(shown.indexOf('aria-label="Added by Baton"'))
    expect(shown.indexOf('aria-label="Added by Baton"')).toBeLessThan(shown.indexOf('Never touch'))
  })

  test('a heading written by the agent does not count as an addition of Baton', () => {
    expect(html(text)).not.toContain('aria-label="Added by Baton"')
    expect(firstAddedLine(text, ['## Added by Baton'])).toBe(4)
    expect(firstAddedLine(text, ['not in it'])).toBeNull()
  })
})

const shown = (before: string, after: string): string[] =>
  lineDiff(before, after).map(({ kind, text }) => `${{ same: ' ', gone: '-', new: '+' }[kind]}${text}`)

describe('the difference between two texts', () => {
  test('a difference lists removed and added lines in their places', () => {
    expect(shown('a\nb\nc\nd', 'a\nc\nx\nd')).toEqual([' a', '-b', ' c', '+x', ' d'])
  })

  test('a difference to an empty text lists all lines, and equal texts have none', () => {
    expect(shown('', 'a\nb')).toEqual(['+a', '+b'])
    expect(shown('a\nb', '')).toEqual(['-a', '-b'])
    expect(shown('a\n', 'a')).toEqual([' a'])
    expect(shown('', '')).toEqual([])
  })

  test('lines of a difference have the line numbers of both texts', () => {
    expect(lineDiff('a\nb', 'b\nc').map(({ before, after }) => [before, after])).toEqual([
      [1, null],
      [2, 1],
      [null, 2],
    ])
  })

  test('a difference contains both texts with the smallest number of changed lines', () => {
    let seed = 7
    const next = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return seed % below
    }
    for (let round = 0; round < 100; round++) {
      const some = (): string[] => Array.from({ length: next(9) }, () => 'abc'[next(3)]!)
      const [old, fresh] = [some(), some()]
      const lines = lineDiff(old.join('\n'), fresh.join('\n'))
      expect(lines.filter(({ kind }) => kind !== 'new').map(({ text }) => text)).toEqual(old)
      expect(lines.filter(({ kind }) => kind !== 'gone').map(({ text }) => text)).toEqual(fresh)
      expect(lines.filter(({ kind }) => kind === 'same')).toHaveLength(longestCommon(old, fresh))
    }
  })

  test('two long texts with almost nothing in common are shown as replaced as a whole', () => {
    const text = (word: string): string => Array.from({ length: 12_000 }, (_, at) => `${word} ${at}`).join('\n')
    const lines = lineDiff(`first\n${text('old')}`, `first\n${text('new')}`)
    expect([lines[0]?.kind, lines[1]?.kind, lines[12_000]?.kind, lines[12_001]?.kind]).toEqual([
      'same',
      'gone',
      'gone',
      'new',
    ])
    expect(lines).toHaveLength(24_001)
  })
})

describe('unchanged lines', () => {
  test('unchanged lines are folded except those near a change', () => {
    const before = Array.from({ length: 30 }, (_, at) => `line ${at}`)
    const after = before.with(15, 'other')
    const parts = foldUnchanged(lineDiff(before.join('\n'), after.join('\n')))
    expect(parts.map(({ folded, lines }) => [folded, lines.length])).toEqual([
      [true, 12],
      [false, 8],
      [true, 11],
    ])
  })

  test('a single unchanged line is not folded', () => {
    expect(foldUnchanged(lineDiff('a\nb\nc\nd\ne', 'a\nb\nc\nd\nx'))).toMatchObject([
      { folded: false },
      { folded: false },
    ])
  })
})

function longestCommon(a: readonly string[], b: readonly string[]): number {
  const table = Array.from({ length: a.length + 1 }, () => new Array<number>(b.length + 1).fill(0))
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++)
      table[i]![j] = a[i - 1] === b[j - 1] ? table[i - 1]![j - 1]! + 1 : Math.max(table[i - 1]![j]!, table[i]![j - 1]!)
  return table[a.length]![b.length]!
}
