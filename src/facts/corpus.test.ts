import { expect, test } from 'vitest'
import { load } from '../../test/corpus/load.js'
import { type Judged, type Score, score, total } from '../../test/corpus/score.js'
import { readConversation } from '../agents/claude-code/conversation.js'
import { startFacts } from './facts.js'

const RECALL: Partial<Record<Judged, number>> = {
  request: 0.95,
  'file-changed': 0.95,
  'file-read': 0.95,
  command: 0.95,
  commit: 0.95,
  todo: 0.95,
  constraint: 0.8,
  question: 0.8,
}
const PRECISION = 0.9
/** Read closely in English only; figures of the others are printed by `npm run corpus`. */
const ENGLISH: Judged[] = ['constraint', 'question', 'decision']

const scored = load('seen').map(({ file, labels }) => {
  const facts = startFacts()
  readConversation(file, { withoutFiles: true, onEntry: facts.take })
  return { language: labels.language, scores: score(labels, facts.facts()) }
})
const figures = (only: (language: string) => boolean): Score[] =>
  total(scored.filter(({ language }) => only(language)).flatMap(({ scores }) => scores))
const all = figures(() => true)
const english = figures((language) => language === 'en')
const kinds = all.map(({ kind }) => kind)

test('there is something to judge by', () => {
  expect(scored.length).toBeGreaterThan(10)
  expect(kinds).toEqual(expect.arrayContaining(Object.keys(RECALL)))
})

test.each(kinds)('%s: enough is found, and little that is wrong', (kind) => {
  const { recall, precision, misses, wrong } = (ENGLISH.includes(kind) ? english : all).find(
    (one) => one.kind === kind,
  )!
  expect(recall ?? 1, `missed: ${misses.map(({ text }) => text).join(' | ')}`).toBeGreaterThanOrEqual(RECALL[kind] ?? 0)
  expect(precision ?? 1, `wrong: ${wrong.map(({ text }) => text).join(' | ')}`).toBeGreaterThanOrEqual(PRECISION)
})
