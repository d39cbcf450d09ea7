import { expect, test } from 'vitest'
import { coloured } from './screen.js'
import { cut, harmless, padEnd, padStart, widthOf } from './width.js'
import { wrap } from './wrap.js'

test('colours take no room and wide characters take two cells', () => {
  expect(widthOf(coloured('abc', 'red'))).toBe(3)
  expect(widthOf('日本')).toBe(4)
  expect(widthOf('e\u0301')).toBe(1)
  expect(padEnd('日', 4)).toBe('日  ')
  expect(padStart(coloured('1', 'dim'), 3)).toBe(`  ${coloured('1', 'dim')}`)
})

test('a cut text is never wider than asked, and its colour ends', () => {
  expect(cut('abcdef', 4)).toBe('abc…')
  expect(cut('abcdef', 4, 'start')).toBe('…def')
  expect(cut('日本語', 4)).toBe('日…')
  expect(cut('日本語', 4, 'start')).toBe('…語')
  expect(cut(coloured('abcdef', 'red'), 4)).toBe('\u001b[31mabc…\u001b[0m')
  expect(cut('abc', 3)).toBe('abc')
  expect(cut('abc', 1)).toBe('…')
  expect(cut('abc', 0)).toBe('')
})

test('text from outside cannot steer the terminal', () => {
  expect(harmless('a\u001b[2Jb\r\nc\u009bd\u202ee')).toBe('a [2Jb c d e')
})

test('wrapped lines keep their indent and never break a word', () => {
  expect(wrap('  one two three', 9, 4)).toEqual(['  one two', '    three'])
  expect(wrap('a-very-long-word b', 5, 0)).toEqual(['a-very-long-word', 'b'])
  expect(wrap('short', 80, 2)).toEqual(['short'])
})
