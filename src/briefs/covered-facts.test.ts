import { describe, expect, test } from 'vitest'
import type { Fact } from '../contract/fact.js'
import { aFact } from '../testing/sample-fact.js'
import { makeCoverageCheck } from './check-brief.js'

const carries = (body: string, fact: Fact, others: Fact[] = []): boolean =>
  makeCoverageCheck(body, [fact, ...others])(fact)
const forbidden = aFact('constraint', "Don't touch the ledger tables", { state: 'forbidden' })

test('a prohibition must be stated in one sentence, not next to it', () => {
  expect(carries('- The ledger tables must not be touched.', forbidden)).toBe(true)
  expect(carries('- Ledger tables may be touched.\n- No new dependencies.', forbidden)).toBe(false)
  expect(carries('You may touch the ledger tables. Never push.', forbidden)).toBe(false)
})

test('a sentence broken over lines is one sentence', () => {
  expect(carries('- The ledger tables belong to others and must\n  not be touched by us', forbidden)).toBe(true)
})

test('two list items do not form one thought', () => {
  const todo = aFact('todo', 'Describe parked batches in the changelog')
  expect(carries('- describe the parser\n- parked batches\n- changelog', todo)).toBe(false)
  expect(carries('- parked batches: describe them in the changelog', todo)).toBe(true)
})

test('a request of several lines is recognized in a quotation', () => {
  const request = aFact('request', 'Fix it.\n\nThen push; 2nd line')
  expect(carries('> Fix it.\n>\n> Then push; 2nd line', request)).toBe(true)
})

test('a file may be named with or without its folders, unless two files share the name', () => {
  const todo = aFact('todo', 'Double the wait in retry.ts')
  expect(carries('In src/invoices/retry.ts double the wait.', todo)).toBe(true)
  const exact = aFact('todo', 'Double the wait in src/a/retry.ts')
  expect(carries('double the wait in retry.ts', exact)).toBe(true)
  const two = [aFact('file', 'src/a/retry.ts'), aFact('file', 'src/b/retry.ts')]
  expect(carries('double the wait in src/b/retry.ts', exact, two)).toBe(false)
})

test('a failing test is recognized by its own name, unless two tests share it', () => {
  const test = aFact('test', 'tests/test_auth.py::TestLogin::test_expired_token')
  expect(carries('`test_expired_token` fails', test)).toBe(true)
  expect(carries('`test_expired` fails', test)).toBe(false)
  const other = aFact('test', 'tests/test_api.py::test_expired_token')
  expect(carries('`test_expired_token` fails', test, [other])).toBe(false)
})

test('a request is not covered by the constraint in it', () => {
  const request = aFact('request', 'Ask accounting about the old ones. Commit it, but never push anything.')
  expect(carries('- Commit it, but never push anything.', request)).toBe(false)
  expect(
    carries('He wants it committed but never pushed anything; the old ones accounting is to be asked about.', request),
  ).toBe(true)
})

test('a commit is recognized by its id or subject, not by what it changed', () => {
  const commit = aFact('commit', 'Rotate refresh tokens', { detail: { id: '4be91d2aaaa' } })
  expect(carries('- refresh tokens are rotated', commit)).toBe(false)
  expect(carries('- tokens are rotated (4be91d2)', commit)).toBe(true)
  expect(carries('- committed: "Rotate refresh tokens"', commit)).toBe(true)
})

describe('similar facts', () => {
  const coveredTexts = (kind: Fact['kind'], texts: readonly string[], state: Fact['state'], body: string): string[] => {
    const facts = texts.map((text) => aFact(kind, text, { state }))
    return facts.filter(makeCoverageCheck(body, facts)).map(({ text }) => text)
  }
  const TODOS = [
    'Add tests for the parser',
    'Add tests for the lexer',
    'Write the unit tests for login',
    'Write the unit tests for logout',
  ]

  test.each(TODOS)('an omitted todo is not covered by similar ones: %s', (left) => {
    const others = TODOS.filter((todo) => todo !== left)
    expect(coveredTexts('todo', TODOS, 'open', others.map((todo) => `- ${todo}`).join('\n'))).toEqual(others)
  })

  test('one sentence that names two todos covers both, and each is covered by its own words', () => {
    expect(coveredTexts('todo', TODOS.slice(0, 2), 'open', 'Next: add tests for parser and lexer.')).toHaveLength(2)
    expect(
      coveredTexts('todo', TODOS.slice(2), 'open', '- the unit tests for login\n- unit tests, logout'),
    ).toHaveLength(2)
  })

  test('a constraint or question is not covered by a similar one', () => {
    const constraints = ['Always run the linter first.', 'Always run the tests first.']
    expect(coveredTexts('constraint', constraints, 'required', 'Always run the tests first.')).toEqual([constraints[1]])
    const questions = ['Should the export have a header?', 'Should the import have a header?']
    expect(coveredTexts('question', questions, 'open', '- Should the export have a header?')).toEqual([questions[0]])
  })

  test('a decision is not covered by a similar one, and one stated twice counts once', () => {
    const two = [
      'We decided on Postgres rather than MySQL, it is faster.',
      'We decided on Redis rather than Memcached, it is faster.',
    ]
    expect(coveredTexts('decision', two, null, `- ${two[0]}`)).toEqual([two[0]])
    const twice = [
      'We use Postgres rather than SQLite because of its locks.',
      'I decided on Postgres rather than SQLite.',
    ]
    expect(coveredTexts('decision', twice, null, `- ${twice[0]}`)).toHaveLength(2)
  })

  test('a fact stated twice, the second time with more words, counts once', () => {
    const twice = ['Never change prices.csv.', 'And really never change prices.csv.']
    expect(coveredTexts('constraint', twice, 'forbidden', 'Never change prices.csv.')).toHaveLength(2)
  })
})
