import { expect, test } from 'vitest'
import type { ResultEntry } from '../../contract/conversation.js'
import {
  callLine,
  entriesOf,
  promptLine,
  readEntries,
  resultLine,
  writeTranscript,
} from './fixtures/conversation-lines.js'

const queued = (content: string) => ({ type: 'queue-operation', operation: 'enqueue', content })

test('a queued prompt that older clients remove without its text was given to the agent', () => {
  const { said } = readEntries(
    writeTranscript(
      queued('switch to trunk first'),
      { type: 'queue-operation', operation: 'remove' },
      promptLine('go on'),
    ),
  )
  expect(said.map(({ text }) => text)).toEqual(['switch to trunk first', 'go on'])
})

test('a prompt that still waits when another one is delivered is not lost', () => {
  const { said } = readEntries(
    writeTranscript(
      queued('first'),
      queued('never push'),
      { type: 'queue-operation', operation: 'dequeue' },
      promptLine('first'),
    ),
  )
  expect(said.map(({ text }) => text)).toEqual(['first', 'never push'])
})

test('a notice in the queue, whose delivery older clients do not record, does not hide a prompt', () => {
  const { said } = readEntries(
    writeTranscript(
      queued('<task-notification>\n<task-id>a1</task-id>\n</task-notification>'),
      queued('show the short name instead'),
      { type: 'queue-operation', operation: 'remove' },
      queued('done?'),
      { type: 'queue-operation', operation: 'dequeue' },
      promptLine('done?'),
    ),
  )
  expect(said.filter(({ by }) => by === 'user').map(({ text }) => text)).toEqual([
    'show the short name instead',
    'done?',
  ])
})

test('answers are read by their questions where the client keeps no record of them', () => {
  const words =
    'User has answered your questions: "Which?"="Use the "fast" one", "Should "Save" stay?"="Yes". ' +
    'You can now continue.'
  const entries = entriesOf(
    callLine('c1', 'AskUserQuestion', { questions: [{ question: 'Which?' }, { question: 'Should "Save" stay?' }] }),
    resultLine('c1', words),
  )
  expect(entries[1]).toMatchObject({
    answered: [
      { question: 'Which?', answer: 'Use the "fast" one' },
      { question: 'Should "Save" stay?', answer: 'Yes' },
    ],
  })
})

test('an error of the client about a plan is neither said by the user nor a refusal', () => {
  const plan = callLine('c1', 'ExitPlanMode', { plan: '# Move the cache' })
  for (const words of ['Request was aborted', '<tool_use_error>You are not in plan mode.</tool_use_error>']) {
    const entries = entriesOf(plan, resultLine('c1', words, { is_error: true }))
    expect(entries).toHaveLength(2)
    expect((entries[1] as ResultEntry).declined).toBeUndefined()
  }
})

test('a queued prompt from before the last prompt is not taken for the last request', () => {
  const { said } = readEntries(
    writeTranscript(queued('what is the code?'), promptLine('what is the code?'), promptLine('fix the header')),
  )
  expect(said.at(-1)!.text).toBe('fix the header')
})

test.each([
  '{"task_id":"b1","task_type":"local_bash"}',
  'Operation stopped by hook: another session is active.',
  'Unknown skill: ship',
])('a text of the client is not a prompt of the user: %s', (text) => {
  expect(readEntries(writeTranscript(promptLine(text))).said).toMatchObject([{ by: 'other' }])
  expect(readEntries(writeTranscript(queued(text))).said).toMatchObject([{ by: 'other' }])
})

const DECLINED =
  "The user doesn't want to proceed with this tool use. The tool use was rejected. " +
  'To tell you how to proceed, the user said:\n'

test('the client’s words about a dialog that the user left are not the user’s, and given answers count', () => {
  const words =
    `${DECLINED}The user wants to clarify these questions.\n\nQuestions asked:\n` +
    '- "Which store?"\n  Answer: SQLite\n- "Since when?"\n  (No answer provided)'
  const entries = entriesOf(
    callLine('c1', 'AskUserQuestion', { questions: [{ question: 'Which store?' }, { question: 'Since when?' }] }),
    resultLine('c1', words, { is_error: true }),
  )
  expect(entries[1]).toMatchObject({ answered: [{ question: 'Which store?', answer: 'SQLite' }] })
  expect(entries[2]).toMatchObject({ kind: 'said', by: 'other' })
})

test('words with which the user declined a plan are said by the user', () => {
  const plan = callLine('c1', 'ExitPlanMode', { plan: '# Move the cache\n…' })
  const declined = entriesOf(plan, resultLine('c1', `${DECLINED}keep the old one for now`, { is_error: true }))
  expect(declined[2]).toMatchObject({ by: 'user', text: 'keep the old one for now', feedback: true })
  const bare = entriesOf(plan, resultLine('c1', 'keep the old one for now', { is_error: true }))
  expect(bare[2]).toMatchObject({ by: 'user', text: 'keep the old one for now' })
})

test("the client's own plan file is no file of the work", () => {
  const plan = { file_path: '/home/me/.claude/plans/quiet-river.md', content: '# Two tables' }
  const entries = entriesOf(
    callLine('c1', 'Write', plan),
    callLine('c2', 'Write', { ...plan, file_path: '/p/plan.md' }),
  )
  expect(entries.map((entry) => entry.kind === 'called' && entry.act.type)).toEqual(['other', 'change'])
})
