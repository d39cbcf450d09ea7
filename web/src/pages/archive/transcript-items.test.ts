import { describe, expect, test } from 'vitest'
import { markWords, termsOf } from './transcript-items.js'

const marked = (text: string, query: string): string =>
  markWords(text, termsOf(query))
    .map(({ text: piece, found }) => (found ? `[${piece}]` : piece))
    .join('')

describe('marking search terms', () => {
  test('search terms are marked as whole words, whatever their case and accents', () => {
    expect(marked('The Café retries; retry it at the cafe', 'café retry')).toBe(
      'The [Café] retries; [retry] it at the [cafe]',
    )
  })

  test('a star matches the rest of a word, and quotes match a phrase', () => {
    expect(marked('retries and retrying the rate\n limit, not the rate', '"rate limit" retr*')).toBe(
      '[retries] and [retrying] the [rate\n limit], not the rate',
    )
  })

  test('names of files and functions are marked as a whole', () => {
    expect(marked('see src/a.ts and take_signal()', 'src/a.ts take_signal')).toBe('see [src/a.ts] and [take_signal]()')
  })

  test('terms in scripts without spaces are marked inside longer text', () => {
    expect(marked('圧縮の前に保存する', '保存')).toBe('圧縮の前に[保存]する')
  })

  test('characters of a query are never read as a pattern', () => {
    expect(marked('a (b) [c] .* d', '.* ( [ \\ "')).toBe('a (b) [c] .* d')
    expect(marked('if (a|b)', 'a|b')).toBe('if ([a|b])')
  })

  test('the marked pieces join to the original text, even with surrogate pairs', () => {
    const text = '👩‍🚀 naïve İstanbul ﬁn 𝒳 retry'
    expect(
      markWords(text, termsOf('naive retry'))
        .map((piece) => piece.text)
        .join(''),
    ).toBe(text)
    expect(marked(text, 'naive retry')).toBe('👩‍🚀 [naïve] İstanbul ﬁn 𝒳 [retry]')
  })
})
