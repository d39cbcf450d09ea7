import { expect, test } from 'vitest'
import { replaceControls } from '../../lib/replace-controls.js'
import { coloured } from './screen.js'
import { ageText, bytesText, cutToWidth, localTimestamp, padEnd, padStart, utcOffset, widthOf, wrap } from './text.js'

test('colours have no width, and wide characters take two cells', () => {
  expect(widthOf(coloured('abc', 'red'))).toBe(3)
  expect(widthOf('日本')).toBe(4)
  expect(widthOf('e\u0301')).toBe(1)
  expect(padEnd('日', 4)).toBe('日  ')
  expect(padStart(coloured('1', 'dim'), 3)).toBe(`  ${coloured('1', 'dim')}`)
})

test('emoji take two cells, combining and invisible characters none, and a flag two', () => {
  expect(['✅', '⌚', '🚀', '🈁', '￥'].map(widthOf)).toEqual([2, 2, 2, 2, 2])
  expect(['é', 'ก็', 'a\u200bb', '✅\ufe0f'].map(widthOf)).toEqual([1, 1, 2, 2])
  expect(widthOf('🇩🇪')).toBe(2)
  expect(widthOf('▰▱·–')).toBe(4)
})

test('a cut text is never wider than the limit, and its colour is reset', () => {
  expect(cutToWidth('abcdef', 4)).toBe('abc…')
  expect(cutToWidth('abcdef', 4, 'start')).toBe('…def')
  expect(cutToWidth('日本語', 4)).toBe('日…')
  expect(cutToWidth('日本語', 4, 'start')).toBe('…語')
  expect(cutToWidth(coloured('abcdef', 'red'), 4)).toBe('\u001b[31mabc…\u001b[0m')
  expect(cutToWidth('abc', 3)).toBe('abc')
  expect(cutToWidth('abc', 1)).toBe('…')
  expect(cutToWidth('abc', 0)).toBe('')
})

test('text from outside cannot send terminal sequences', () => {
  expect(replaceControls('a\u001b[2Jb\r\nc\u009bd\u202ee')).toBe('a [2Jb c d e')
})

test('wrapped lines keep their indent and never break a word', () => {
  expect(wrap('  one two three', 9, 4)).toEqual(['  one two', '    three'])
  expect(wrap('a-very-long-word b', 5, 0)).toEqual(['a-very-long-word', 'b'])
  expect(wrap('short', 80, 2)).toEqual(['short'])
})

test('sizes are shown with two or three digits', () => {
  const told = [0, 999, 1000, 1499, 9_949, 9_950, 99_999, 999_499, 999_500, 20_000_000, 1_234_567_890, 5e15].map(
    bytesText,
  )
  expect(told).toEqual([
    '0 B',
    '999 B',
    '1.0 kB',
    '1.5 kB',
    '9.9 kB',
    '10 kB',
    '100 kB',
    '999 kB',
    '1.0 MB',
    '20 MB',
    '1.2 GB',
    '5000 TB',
  ])
})

const now = new Date('2026-03-01T12:00:00Z')

test('an age is shown in its largest unit and is never negative', () => {
  expect(ageText('2026-03-01T11:59:48Z', now)).toBe('12s')
  expect(ageText('2026-03-01T11:00:01Z', now)).toBe('59m')
  expect(ageText('2026-02-28T13:00:00Z', now)).toBe('23h')
  expect(ageText('2026-02-20T12:00:00Z', now)).toBe('9d')
  expect(ageText('2026-03-01T12:00:05Z', now)).toBe('0s')
  expect(ageText(null, now)).toBe('–')
})

test('a time is shown in local time with its offset', () => {
  const text = localTimestamp('2026-03-01T12:00:00.000Z')
  expect(text).toMatch(/^2026-0[23]-\d\d \d\d:\d\d:00 [+-]\d\d:\d\d$/)
  const [day, time, zone] = text.split(' ')
  expect(new Date(`${day}T${time}${zone}`).getTime()).toBe(now.getTime())
  expect(localTimestamp(null)).toBe('–')
})

test('offsets west of Greenwich and with half hours are formatted correctly', () => {
  const at = (minutes: number) => ({ getTimezoneOffset: () => minutes }) as Date
  expect(utcOffset(at(-330))).toBe('+05:30')
  expect(utcOffset(at(210))).toBe('-03:30')
  expect(utcOffset(at(0))).toBe('+00:00')
})
