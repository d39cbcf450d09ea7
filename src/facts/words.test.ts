import { expect, test } from 'vitest'
import { isExactWord, isNegative, meaningWords, normalizeText } from './words.js'

const words = (text: string): string[] => [...meaningWords(text)].sort()

test('punctuation, case and spaces make no difference in a comparison', () => {
  expect(normalizeText('  The `user_id`\n  is **“Fixed”** ')).toBe('the userid is fixed')
  expect(normalizeText('ﬁle ＡＢＣ')).toBe('file abc')
})

test.each([
  ['use the caches', 'using a cache'],
  ['modify the tests', 'modified test'],
  ['running commits', 'committed runs'],
  ['die Ordner leeren', 'den Ordnern'],
  ['изменяй миграции', 'изменять миграций'],
])('forms of the same words are compared as equal: %s, %s', (one, other) => {
  const shared = words(one).filter((word) => meaningWords(other).has(word))
  expect(shared.length).toBeGreaterThanOrEqual(1)
  expect(shared.length / meaningWords(one).size).toBeGreaterThanOrEqual(0.5)
})

test('names stay whole, numbers count, and filler words and list numbers are ignored', () => {
  expect(words('the src/a.test.ts of v2.1')).toEqual(['src/a.test.ts', 'v2.1'])
  expect(words('at most 3 retries')).toContain('3')
  expect(words('1. retry')).toEqual(words('retry'))
})

test.each([
  ['データベースを変更しない', 'データベース'],
  ['不要修改迁移文件', '迁移文件'],
  ['마이그레이션을 수정하지 마세요', '마이그레이션은'],
])('text without spaces between words is compared by pairs of characters: %s', (whole, part) => {
  const shared = words(part).filter((pair) => meaningWords(whole).has(pair))
  expect(shared.length).toBeGreaterThanOrEqual(words(part).length - 1)
})

test('numbers, files and addresses are firm, other words are not', () => {
  for (const word of ['200ms', '3', 'a.ts', 'me@example.com', 'v2']) expect(isExactWord(word)).toBe(true)
  for (const word of ['retry', 'e.g', 'and/or', 'read-only']) expect(isExactWord(word)).toBe(false)
})

test.each([
  "Don't touch it",
  'Never push',
  'We cannot use it',
  'This isn’t allowed',
  'leave it unchanged',
  'Ändere nichts und lösche keine Datei',
  'No toques esto',
  'Ne touche pas',
  'не трогай',
  '不要修改',
  '変更しないでください',
  '수정하지 않는다',
])('a denial is recognised: %s', (text) => expect(isNegative(text)).toBe(true))

test.each([
  'Touch it',
  'I want the current client',
  'Now push',
  'Lösche die Datei',
  'Toca esto',
  'трогай',
  '修改文件',
  '変更してください',
])('a text without a denial is recognised: %s', (text) => expect(isNegative(text)).toBe(false))
