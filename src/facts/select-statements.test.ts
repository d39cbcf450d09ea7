import { expect, test } from 'vitest'
import { aFact } from '../testing/sample-fact.js'
import { type Statement, selectStatements } from './select-statements.js'

const finding = (text: string, line: number, ends = false) => aFact('finding', text, { line, detail: { ends } })
const format = ({ by, text }: Statement): string => `${by}: ${text}`
const select = (facts: Parameters<typeof selectStatements>[0], room = 1_000, said = ''): string[] =>
  selectStatements(facts, { said, room, format })

test('selected statements keep the order of the conversation', () => {
  const facts = [finding('Later: port 9090.', 30), finding('Earlier: port 8081.', 2)]
  expect(select(facts)).toEqual(['agent: Earlier: port 8081.', 'agent: Later: port 9090.'])
})

test('a statement with new names is preferred to one whose names are told already', () => {
  const facts = [finding('The pool lives in src/pool.ts.', 1), finding('The limit lives in src/limit.ts.', 2)]
  expect(select(facts, 50, 'See src/limit.ts for it.')).toEqual(['agent: The pool lives in src/pool.ts.'])
})

test('the statement that ended a turn is preferred to one in the middle of the work', () => {
  const facts = [finding('Reading src/left.ts now.', 5), finding('Changed src/right.ts.', 5, true)]
  expect(select(facts, 40)).toEqual(['agent: Changed src/right.ts.'])
})

test('lines of the user’s requests are selected too, and marked as such', () => {
  const facts = [aFact('request', 'ok\nUse the bucket eu-archive-7 for backups.', { line: 3 })]
  expect(select(facts)).toEqual(['user: Use the bucket eu-archive-7 for backups.'])
})

test('the selection never exceeds its room, and statements without specific words are left out', () => {
  const many = Array.from({ length: 300 }, (_, i) => finding(`Row ${1000 + i} failed in shard_${i}.`, i))
  const lines = select([...many, finding('All is well again.', 900)], 500)
  expect(lines.join('\n').length).toBeLessThanOrEqual(500)
  expect(lines.length).toBeGreaterThan(8)
  expect(lines.join('\n')).not.toContain('All is well')
})
