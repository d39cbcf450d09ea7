import { expect, test } from 'vitest'
import type { Entry } from '../contract/conversation.js'
import { called, ran, returned, said } from '../testing/sample-conversation.js'
import { startFacts } from './facts.js'

function questions(...entries: Entry[]): [string, string | null][] {
  const facts = startFacts()
  for (const entry of entries) facts.take(entry)
  return facts
    .facts()
    .filter(({ kind }) => kind === 'question')
    .map(({ text, state }) => [text, state])
}
const ask = called({ type: 'ask', questions: ['Which copy may I use?'] })

test('the agent’s question at the end of its turn is open until the user replies', () => {
  const end = said('agent', 'Done. Shall I commit this?')
  expect(questions(end)).toEqual([['Shall I commit this?', 'open']])
  expect(questions(end, said('user', 'Yes.'))).toEqual([['Shall I commit this?', 'answered']])
})

test('a question in passing is none: the agent went on', () => {
  expect(
    questions(said('agent', 'Why does it sleep here? Let me check.'), ...ran('ls'), said('agent', 'Done.')),
  ).toEqual([])
  expect(questions(said('agent', 'Why? Because the list is empty.'))).toEqual([])
  expect(questions(said('agent', 'Fixed.\n```\nreally?\n```\nIs there anything else?'))).toEqual([])
})

test.each([
  "I'll tell you after lunch. Go on with the rest.",
  'Not sure yet.',
  'Let me check with ops.',
  'Das klären wir später.',
])('put off with "%s" it stays open', (reply) => {
  const end = said('agent', 'Which database shall I use for the trial?')
  expect(questions(end, said('user', reply))).toEqual([['Which database shall I use for the trial?', 'open']])
  expect(
    questions(end, said('user', reply), said('user', 'Use the trial database on staging.')).filter(
      ([, state]) => state === 'open',
    ),
  ).toEqual([])
})

test('of several questions the one the reply leaves out stays open', () => {
  const end = said(
    'agent',
    'I need to know:\n1. How long may a lock be held?\n2. Shall a command wait or fail?\n3. Is Windows supported?',
  )
  expect(questions(end, said('user', 'Ten seconds. It should wait.'))).toContainEqual(['Is Windows supported?', 'open'])
  expect(questions(end, said('user', 'You decide.')).filter(([, state]) => state === 'open')).toEqual([])
})

test('a dialog is answered, open while nobody answered, and none when it could not be shown', () => {
  expect(questions(ask)).toEqual([['Which copy may I use?', 'open']])
  expect(questions(ask, returned(ask, 'answered', { answers: ['Last night'] }))).toEqual([
    ['Which copy may I use?', 'answered'],
  ])
  expect(questions(ask, returned(ask, 'no such tool', { ok: false, refused: true }))).toEqual([])
  const declined = returned(ask, 'declined', { ok: false, refused: true, interrupted: true })
  expect(questions(ask, declined)).toEqual([['Which copy may I use?', 'open']])
  expect(questions(ask, declined, said('user', "I'll tell you later."))).toEqual([['Which copy may I use?', 'open']])
})

test('the user’s question is open until a turn ends with a text', () => {
  const asked = said('user', 'Thanks. Is the same bug in the other limiter?')
  const text = 'Is the same bug in the other limiter?'
  expect(questions(asked)).toEqual([[text, 'open']])
  expect(questions(asked, said('agent', 'I look.'), ...ran('ls'))).toEqual([[text, 'open']])
  expect(questions(asked, said('agent', 'Good quest'), said('other', 'stopped', { stops: true }))).toEqual([
    [text, 'open'],
  ])
  expect(questions(asked, ...ran('ls'), said('agent', 'No, it is not.'))).toEqual([[text, 'answered']])
})

test('the user’s question stays answered when he speaks again, and open when no text answered it', () => {
  const asked = said('user', 'Is the same bug in the other limiter?')
  const text = 'Is the same bug in the other limiter?'
  const goOn = said('user', 'Go on.')
  expect(questions(asked, said('agent', 'No, it is not.'), goOn)).toEqual([[text, 'answered']])
  expect(questions(asked, ...ran('ls'), goOn)).toEqual([[text, 'open']])
  expect(questions(asked, ...ran('ls'), goOn, said('agent', 'No, it is not.'), goOn)).toEqual([[text, 'answered']])
})

test('a request in the form of a question asks for deeds', () => {
  expect(questions(said('user', 'Could you please fix the login form?'))).toEqual([])
})
