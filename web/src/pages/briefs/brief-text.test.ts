import { createElement } from 'react'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { BriefText } from './brief-text.js'
import { addedFrom, parseMarkdown, spansOf } from './parse-markdown.js'

const html = (text: string, added: string[] = []): string => renderToStaticMarkup(createElement(BriefText, { text, added }))

describe('the text of a brief', () => {
  it('has its headings, lists, quotations and code', () => {
    expect(parseMarkdown('# Goal\n\nOne\ntwo\n- a\n  more\n  1. b\n- [x] c\n> said\n```sh\nnpm test\n\n```\n---\n|a|b|')).toEqual(
      [
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
      ],
    )
  })

  it('loses no word, whatever it holds', () => {
    const odd = '#no heading\n*not a list\n**open\n`also\n<details>\n<!-- hidden? -->\n[a](javascript:alert(1))\n```\nunclosed'
    const words = html(odd).replace(/<[^>]*>/g, ' ')
    for (const word of ['#no heading', '*not a list', '**open', '`also', 'hidden?', 'javascript:alert(1)', 'unclosed'])
      expect(words).toContain(word)
  })

  it('stays text where it looks like a page', () => {
    const shown = html('<script>alert(1)</script>\n\n- <img src=x onerror=alert(1)>\n\n# <b>`<i>`</b>\n\n[x](https://a.example)')
    expect(shown).not.toMatch(/<(script|img|b|i|a)\b/)
    expect(shown).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  })

  it('emphasis is found only where it is closed', () => {
    expect(spansOf('a `b*` **c d** 2 ** 3 ``e`f``')).toEqual([
      { kind: 'text', text: 'a ' },
      { kind: 'code', text: 'b*' },
      { kind: 'text', text: ' ' },
      { kind: 'strong', text: 'c d' },
      { kind: 'text', text: ' 2 ** 3 ' },
      { kind: 'code', text: 'e`f' },
    ])
  })
})

describe('what Baton added', () => {
  const text = '# Brief\n\nMine.\n\n## Added by Baton\n\n- Never touch the migrations\n'

  it('stands apart under its own name', () => {
    const shown = html(text, ['## Added by Baton', '', '- Never touch the migrations'])
    expect(shown.indexOf('Mine.')).toBeLessThan(shown.indexOf('aria-label="Added by Baton"'))
    expect(shown.indexOf('aria-label="Added by Baton"')).toBeLessThan(shown.indexOf('Never touch'))
  })

  it('is nothing where nothing was added, even if the text says so', () => {
    expect(html(text)).not.toContain('aria-label="Added by Baton"')
    expect(addedFrom(text, ['## Added by Baton'])).toBe(4)
    expect(addedFrom(text, ['not in it'])).toBeNull()
  })
})
