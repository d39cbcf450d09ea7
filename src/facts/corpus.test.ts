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
/**
 * Kinds judged in English only, because only English is analysed closely.
 * `npm run corpus` prints the numbers of other languages.
 */
const ENGLISH: Judged[] = ['constraint', 'question', 'decision']

const scored = load('seen').map(({ file, labels }) => {
  const facts = startFacts()
  readConversation(file, { withoutFiles: true, onEntry: facts.add })
  return { language: labels.language, scores: score(labels, facts.facts()) }
})
const figures = (only: (language: string) => boolean): Score[] =>
  total(scored.filter(({ language }) => only(language)).flatMap(({ scores }) => scores))
const all = figures(() => true)
const english = figures((language) => language === 'en')
/** Findings have no labels: a brief selects among them, and its answers to probes are measured. */
const UNLABELLED: Judged[] = ['finding']
const kinds = all.map(({ kind }) => kind).filter((kind) => !UNLABELLED.includes(kind))

test('the corpus has enough labelled conversations of every kind', () => {
  expect(scored.length).toBeGreaterThan(10)
  expect(kinds).toEqual(expect.arrayContaining(Object.keys(RECALL)))
})

test.each(kinds)('facts of kind %s reach the required recall and precision', (kind) => {
  const { recall, precision, misses, wrong } = (ENGLISH.includes(kind) ? english : all).find(
    (one) => one.kind === kind,
  )!
  expect(recall ?? 1, `missed: ${misses.map(({ text }) => text).join(' | ')}`).toBeGreaterThanOrEqual(RECALL[kind] ?? 0)
  expect(precision ?? 1, `wrong: ${wrong.map(({ text }) => text).join(' | ')}`).toBeGreaterThanOrEqual(PRECISION)
})
