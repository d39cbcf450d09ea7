import { expect, test } from 'vitest'
import { denies, isFirm, meaningOf, plain } from './words.js'

const words = (text: string): string[] => [...meaningOf(text)].sort()

test('writing marks, case and spaces make no difference', () => {
  expect(plain('  The `user_id`\n  is **“Fixed”** ')).toBe('the userid is fixed')
  expect(plain('ﬁle ＡＢＣ')).toBe('file abc')
})

test.each([
  ['use the caches', 'using a cache'],
  ['modify the tests', 'modified test'],
  ['running commits', 'committed runs'],
  ['die Ordner leeren', 'den Ordnern'],
  ['изменяй миграции', 'изменять миграций'],
])('forms of the same words are the same: %s, %s', (one, other) => {
  const shared = words(one).filter((word) => meaningOf(other).has(word))
  expect(shared.length).toBeGreaterThanOrEqual(1)
  expect(shared.length / meaningOf(one).size).toBeGreaterThanOrEqual(0.5)
})

test('names stay whole, little words and list numbers carry nothing, figures do', () => {
  expect(words('the src/a.test.ts of v2.1')).toEqual(['src/a.test.ts', 'v2.1'])
  expect(words('at most 3 retries')).toContain('3')
  expect(words('1. retry')).toEqual(words('retry'))
})

test.each([
  ['データベースを変更しない', 'データベース'],
  ['不要修改迁移文件', '迁移文件'],
  ['마이그레이션을 수정하지 마세요', '마이그레이션은'],
])('writing without spaces between words is compared by pairs: %s', (whole, part) => {
  const shared = words(part).filter((pair) => meaningOf(whole).has(pair))
  expect(shared.length).toBeGreaterThanOrEqual(words(part).length - 1)
})

test('figures, files and addresses are firm, other words are not', () => {
  for (const word of ['200ms', '3', 'a.ts', 'me@example.com', 'v2']) expect(isFirm(word)).toBe(true)
  for (const word of ['retry', 'e.g', 'and/or', 'read-only']) expect(isFirm(word)).toBe(false)
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
])('it is heard that something is denied: %s', (text) => expect(denies(text)).toBe(true))

test.each([
  'Touch it',
  'I want the current client',
  'Now push',
  'Lösche die Datei',
  'Toca esto',
  'трогай',
  '修改文件',
  '変更してください',
])('nothing is denied: %s', (text) => expect(denies(text)).toBe(false))
