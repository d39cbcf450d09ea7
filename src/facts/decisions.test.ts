import { expect, test } from 'vitest'
import { said } from '../testing/sample-conversation.js'
import { watchDecisions } from './facts.js'

function decisionsIn(text: string, by: 'agent' | 'user' | 'other' = 'agent'): string[] {
  const watcher = watchDecisions()
  watcher.said!(said(by, text))
  return watcher.facts().map((fact) => fact.text)
}

test.each([
  'I went with a token bucket instead of a sliding window because it needs no history.',
  "We'll use SQLite rather than Postgres, since there is only one writer.",
  'I decided against caching the CSV: the file is 40 kB.',
  'I chose option B.',
  'I rejected the regex approach: it cannot handle nesting.',
  'Escapes are decoded inside the lexer instead.',
  "I'd rather sort at construction than in the writer.",
  'Since the file is small, I load it whole instead of streaming it.',
  'I recommend mkdir as the lock over open, because it is atomic.',
  'Ich habe mich für kaufmännisches Runden entschieden, weil das Finanzamt es so verlangt.',
  'He preferido with_lock a una restricción en la base de datos.',
  "J'ai choisi une file plutôt que un verrou, car elle est plus simple.",
  '我决定用缓存而不是数据库，因为它更快。',
  'キャッシュではなくデータベースを使うことにしました。',
  'Я решил оставить старый формат.',
])('a decision is recognised: %s', (sentence) => {
  expect(decisionsIn(sentence)).toEqual([sentence])
})

test.each([
  "I'll look at the queue first.",
  'The test fails because the mock is missing.',
  'The loop starts at 1 instead of 0.',
  'I could not reproduce it since the seed differs.',
  "I'll start with the failing test because it is the smallest.",
  'All ten tests pass.',
  'The user is redirected to /login instead of /home.',
  'Next I run the linter.',
])('narration is no decision: %s', (sentence) => {
  expect(decisionsIn(sentence)).toEqual([])
})

test('text of other programs contains no decisions', () => {
  expect(decisionsIn('We decided to use Postgres.', 'other')).toEqual([])
  expect(decisionsIn("Let's go with the second one.", 'user')).toEqual(["Let's go with the second one."])
})
