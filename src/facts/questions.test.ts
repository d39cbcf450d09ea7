import { expect, test } from 'vitest'
import type { Entry } from '../contract/conversation.js'
import { called, ran, returned, said } from '../testing/sample-conversation.js'
import { startFacts } from './facts.js'

function questionsIn(...entries: Entry[]): [string, string | null][] {
  const facts = startFacts()
  for (const entry of entries) facts.add(entry)
  return facts
    .facts()
    .filter(({ kind }) => kind === 'question')
    .map(({ text, state }) => [text, state])
}
const ask = called({ type: 'ask', questions: ['Which copy may I use?'] })

test("a question at the end of the agent's turn is open until the user replies", () => {
  const end = said('agent', 'Done. Shall I commit this?')
  expect(questionsIn(end)).toEqual([['Shall I commit this?', 'open']])
  expect(questionsIn(end, said('user', 'Yes.'))).toEqual([['Shall I commit this?', 'answered']])
})

test('a question stays open when the agent only remarks on a notification after it', () => {
  const end = said('agent', 'Both servers run. Shall I start the first case?')
  const notified = said('other', 'Background command "server" was stopped')
  const remark = said('agent', 'That was the old server. Ready whenever you are.')
  expect(questionsIn(end, notified, remark)).toEqual([['Shall I start the first case?', 'open']])
  expect(questionsIn(end, notified, remark, said('user', 'Yes.'))).toEqual([
    ['Shall I start the first case?', 'answered'],
  ])
  expect(questionsIn(end, remark)).toEqual([])
})

test('a question after which the agent continues is not recorded', () => {
  expect(
    questionsIn(said('agent', 'Why does it sleep here? Let me check.'), ...ran('ls'), said('agent', 'Done.')),
  ).toEqual([])
  expect(questionsIn(said('agent', 'Why? Because the list is empty.'))).toEqual([])
  expect(questionsIn(said('agent', 'Fixed.\n```\nreally?\n```\nIs there anything else?'))).toEqual([])
})

test.each([
  "I'll tell you after lunch. Go on with the rest.",
  'Not sure yet.',
  'Let me check with ops.',
  'Das klären wir später.',
])('a question put off with "%s" stays open', (reply) => {
  const end = said('agent', 'Which database shall I use for the trial?')
  expect(questionsIn(end, said('user', reply))).toEqual([['Which database shall I use for the trial?', 'open']])
  expect(
    questionsIn(end, said('user', reply), said('user', 'Use the trial database on staging.')).filter(
      ([, state]) => state === 'open',
    ),
  ).toEqual([])
})

test('of several questions, those that the reply omits stay open', () => {
  const end = said(
    'agent',
    'I need to know:\n1. How long may a lock be held?\n2. Shall a command wait or fail?\n3. Is Windows supported?',
  )
  expect(questionsIn(end, said('user', 'Ten seconds. It should wait.'))).toContainEqual([
    'Is Windows supported?',
    'open',
  ])
  expect(questionsIn(end, said('user', 'You decide.')).filter(([, state]) => state === 'open')).toEqual([])
})

test('a dialog question is answered, open without an answer, and no fact when it could not be shown', () => {
  expect(questionsIn(ask)).toEqual([['Which copy may I use?', 'open']])
  expect(questionsIn(ask, returned(ask, 'answered', { answers: ['Last night'] }))).toEqual([
    ['Which copy may I use?', 'answered'],
  ])
  expect(questionsIn(ask, returned(ask, 'no such tool', { ok: false, refused: true }))).toEqual([])
  const declined = returned(ask, 'declined', { ok: false, refused: true, interrupted: true })
  expect(questionsIn(ask, declined)).toEqual([['Which copy may I use?', 'open']])
  expect(questionsIn(ask, declined, said('user', "I'll tell you later."))).toEqual([['Which copy may I use?', 'open']])
})

test('a question of the user is open until a turn ends with a text', () => {
  const asked = said('user', 'Thanks. Is the same bug in the other limiter?')
  const text = 'Is the same bug in the other limiter?'
  expect(questionsIn(asked)).toEqual([[text, 'open']])
  expect(questionsIn(asked, said('agent', 'I look.'), ...ran('ls'))).toEqual([[text, 'open']])
  expect(questionsIn(asked, said('agent', 'Good quest'), said('other', 'stopped', { stops: true }))).toEqual([
    [text, 'open'],
  ])
  expect(questionsIn(asked, ...ran('ls'), said('agent', 'No, it is not.'))).toEqual([[text, 'answered']])
})

test('an answered question of the user stays answered, and one without a text as answer stays open', () => {
  const asked = said('user', 'Is the same bug in the other limiter?')
  const text = 'Is the same bug in the other limiter?'
  const goOn = said('user', 'Go on.')
  expect(questionsIn(asked, said('agent', 'No, it is not.'), goOn)).toEqual([[text, 'answered']])
  expect(questionsIn(asked, ...ran('ls'), goOn)).toEqual([[text, 'open']])
  expect(questionsIn(asked, ...ran('ls'), goOn, said('agent', 'No, it is not.'), goOn)).toEqual([[text, 'answered']])
})

test('a request in the form of a question is not recorded as a question', () => {
  expect(questionsIn(said('user', 'Could you please fix the login form?'))).toEqual([])
})

test('a declined plan leaves no open question, and text in the middle of a turn may answer the user', () => {
  const plan = called({ type: 'ask', questions: ['Approve the plan?'], plan: 'Two tables' })
  const declined = returned(plan, 'no', { ok: false, interrupted: true, declined: true })
  expect(questionsIn(plan, declined)).toEqual([['Approve the plan?', 'answered']])
  const asked = said('user', 'Where does the time stamp come from?')
  const work = ran('ls')
  expect(questionsIn(asked, said('agent', 'Let me look.'), ...work)).toMatchObject([[expect.anything(), 'open']])
  expect(questionsIn(asked, said('agent', 'The stamp is set by the loader.'), ...work)).toMatchObject([
    [expect.anything(), 'answered'],
  ])
})

test('a question of the user that no reply followed is dropped after two further prompts', () => {
  const asked = said('user', 'Where does the time stamp come from?')
  expect(questionsIn(asked, said('user', 'And fix the loader.'))).toMatchObject([[expect.anything(), 'open']])
  expect(questionsIn(asked, said('user', 'And fix it.'), said('user', 'Now.'))).toMatchObject([
    [expect.anything(), 'dropped'],
  ])
})
