import { describe, expect, test } from 'vitest'
import type { CallEntry, Entry, ResultEntry, ToolAction } from '../contract/conversation.js'
import { called, returned, said } from '../testing/sample-conversation.js'
import { watchDecisions } from './decisions.js'

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

test.each([
  "I'm dropping the Redis cache.",
  "I'm picking Postgres for the queue.",
  "I'll rule out Redis.",
  'The right place for this is the parser.',
  'The simplest fix is a lock.',
  'Root cause: the index is stale.',
  'Parser changes: not needed.',
  'It is a false positive.',
  'Both comments are actually valid.',
  'The harness should rely on the setup.',
  'I need to add a fallback to `load` for empty lists.',
  'This is a gap we accept for now.',
  'We agreed on two passes.',
])('a conclusion or choice of the agent is a decision: %s', (sentence) => {
  expect(decisionsIn(sentence)).toEqual([sentence])
})

test.each([
  "Let's not make this change here.",
  "let's go back",
  "I'll do that manually.",
  'I like option 2.',
  'Please open an issue for that.',
  'Do the docs in a separate branch.',
  'That one can be closed.',
  "No, don't set it.",
  'Use the old one instead.',
])('a choice of the user is a decision: %s', (sentence) => {
  expect(decisionsIn(sentence, 'user')).toEqual([sentence])
})

test.each(['The page is closed after login.', 'The file was removed yesterday.', 'I like pizza.'])(
  'a description by the user is no decision: %s',
  (sentence) => {
    expect(decisionsIn(sentence, 'user')).toEqual([])
  },
)

test('a long answer without sentences is cut, because facts are stored and compared', () => {
  const watcher = watchDecisions()
  const call: CallEntry = {
    kind: 'called',
    callId: 'c',
    tool: 'Ask',
    act: { type: 'ask', questions: ['Which?'] },
    line: 1,
    at: null,
  }
  const answer = 'x'.repeat(50_000)
  watcher.returned!(
    {
      kind: 'returned',
      callId: 'c',
      text: '',
      ok: true,
      exitCode: null,
      interrupted: false,
      answers: [answer],
      answered: [{ question: 'Which?', answer }],
      line: 2,
      at: null,
    },
    call,
  )
  expect(watcher.facts()[0]!.text.length).toBeLessThan(600)
})

describe('choices of the user outside of prose', () => {
  const call = (act: ToolAction): CallEntry => ({ kind: 'called', callId: 'c', tool: 'Ask', act, line: 3, at: null })
  const returned = (change: Partial<ResultEntry>): ResultEntry => ({
    kind: 'returned',
    callId: 'c',
    text: '',
    ok: true,
    exitCode: null,
    interrupted: false,
    answers: [],
    line: 4,
    at: 9,
    ...change,
  })
  const choices = (act: ToolAction, change: Partial<ResultEntry>) => {
    const watcher = watchDecisions()
    watcher.returned!(returned(change), call(act))
    return watcher.facts()
  }
  const ask: ToolAction = { type: 'ask', questions: ['Which store?', 'Since when?'] }

  test('each answer of a dialog is a decision of the user with its question', () => {
    const found = choices(ask, {
      answered: [
        { question: 'Which store?', answer: 'SQLite' },
        { question: 'Since when?', answer: 'You decide' },
      ],
    })
    expect(found).toMatchObject([
      {
        text: expect.stringMatching(/^SQLite /),
        line: 4,
        at: 9,
        detail: { by: 'user', how: 'dialog', answer: 'SQLite' },
      },
    ])
    expect(found[0]!.text).toContain('Which store?')
  })

  test('answers that were given before the user left a dialog count too', () => {
    const answered = [{ question: 'Which store?', answer: 'SQLite' }]
    expect(choices(ask, { ok: false, interrupted: true, answered })).toHaveLength(1)
  })

  test('an approved plan and a refused one are decisions that name the plan', () => {
    const plan: ToolAction = { type: 'ask', questions: ['Approve?'], plan: 'Move the cache' }
    expect(choices(plan, {})[0]).toMatchObject({ detail: { how: 'plan approved' } })
    expect(choices(plan, { ok: false, refused: true })).toEqual([])
    expect(choices(plan, { ok: false, refused: true, declined: true })[0]).toMatchObject({
      text: expect.stringContaining('Move the cache'),
      detail: { how: 'plan refused' },
    })
  })

  test('a prompt that hands over a plan decides for the plan and for nothing inside it', () => {
    const watcher = watchDecisions()
    watcher.said!(said('user', "Implement the following plan:\n\n# Split the parser\n\nLet's go with two passes."))
    expect(watcher.facts().map(({ text }) => text)).toEqual(['Split the parser'])
  })
})

function watched(...entries: Entry[]) {
  const watcher = watchDecisions()
  for (const entry of entries) {
    if (entry.kind === 'said') watcher.said!(entry)
    else if (entry.kind === 'called') watcher.called!(entry)
  }
  return watcher.facts().map(({ text, detail }) => [text, detail.by, detail.how])
}

describe('what a prompt means together with the text before it', () => {
  test('agreement with a question how a proposal looks is a choice of that proposal', () => {
    const offer = "I'd split the loader into two files, one per format. Does this structure look right to you?"
    expect(watched(said('agent', offer), said('user', 'yes'))).toEqual([
      ["I'd split the loader into two files, one per format.", 'user', 'agreed'],
    ])
  })

  test('words of plain agreement are no choice beside what they agree to', () => {
    const offer = "I'd say the second table can go. Shall I drop it?"
    expect(watched(said('agent', offer), said('user', "yeah let's do it"))).toEqual([
      ["I'd say the second table can go.", 'user', 'agreed'],
    ])
  })

  test('agreement without own words is a choice of what was proposed', () => {
    const proposal = "I'd say the second table can go.\n\nWant me to do it?"
    expect(watched(said('agent', proposal), said('user', 'yes please'))).toEqual([
      ["I'd say the second table can go.", 'user', 'agreed'],
    ])
    const telling = 'Shall I store the rates in one table and drop the other two?'
    expect(watched(said('agent', telling), said('user', 'はい、お願いします'))).toEqual([[telling, 'user', 'agreed']])
    expect(watched(said('agent', telling), said('user', 'What does that cost?'))).toEqual([])
  })

  test('what a user writes when declining a call steers the work, questions for information do not', () => {
    const feedback =
      "Why not use the stream reader?\nwhere is the log?\nour branch tracks the release, right?\nlet's see"
    expect(watched(said('user', feedback, { feedback: true }))).toEqual([
      ['Why not use the stream reader?', 'user', 'feedback'],
      ['our branch tracks the release, right?', 'user', 'feedback'],
    ])
  })

  test('a text before a change of a file says how it is made', () => {
    const text = 'Let me change the loader to also read the second file.'
    const change = called({ type: 'change', path: '/a.ts' })
    expect(watched(said('agent', text), change)).toEqual([[text, 'agent', undefined]])
    expect(watched(said('agent', text), called({ type: 'read', path: '/a.ts' }))).toEqual([])
  })

  test('a short direction is a choice, also behind a command of the client', () => {
    expect(watched(said('user', '/plan:run  use two workers'))).toEqual([['use two workers', 'user', undefined]])
    expect(watched(said('user', 'no problem'))).toEqual([])
  })
})

test('another answer to the same question, or a later verdict on a plan, supersedes the earlier one', () => {
  const watcher = watchDecisions()
  const ask = called({ type: 'ask', questions: ['Which store?'] })
  const answer = (text: string, line: number): ResultEntry =>
    returned(ask, '', { answered: [{ question: 'Which store?', answer: text }], line })
  watcher.returned!(answer('SQLite', 3), ask)
  watcher.returned!(answer('Postgres', 7), ask)
  const plan = called({ type: 'ask', questions: [], plan: 'Two tables' })
  watcher.returned!(returned(plan, 'no', { ok: false, declined: true, line: 9 }), plan)
  watcher.returned!(returned(plan, 'ok', { line: 12 }), plan)
  expect(watcher.facts().map(({ text, detail }) => [text, detail.superseded])).toEqual([
    ['SQLite (asked: Which store?)', 7],
    ['Postgres (asked: Which store?)', undefined],
    ['Two tables (plan refused)', 12],
    ['Two tables (plan approved)', undefined],
  ])
})

test('ways that an agent only offers are no choices, its advice after them is one', () => {
  const offer = [
    'There are two options:',
    '1. **Separate branch** - move the loader there first',
    '2. The simplest fix is a lock.',
    '',
    "I'd lean toward the lock.",
  ].join('\n')
  expect(decisionsIn(offer)).toEqual(["I'd lean toward the lock."])
  expect(decisionsIn('What I did:\n1. The simplest fix is a lock.')).toEqual(['The simplest fix is a lock.'])
})

test.each([
  "okay, let's do this:",
  "I'd like to split it - let's brainstorm",
  'it makes a new branch, yes?',
  "I'd prefer that",
])('a prompt that says nothing by itself is no decision: %s', (prompt) => {
  expect(decisionsIn(prompt, 'user')).toEqual([])
})

test('an order with which the user declines a call is a decision, a question there is none', () => {
  const watcher = watchDecisions()
  const decline = (text: string): void => watcher.said!({ ...said('user', text), feedback: true })
  decline('split it into two files, they have nothing in common')
  decline('what does the linter say now?')
  expect(watcher.facts().map(({ text }) => text)).toEqual(['split it into two files, they have nothing in common'])
})
