import { expect, test } from 'vitest'
import { aFact } from '../testing/sample-fact.js'
import { type RemainingContext, reportLoss } from './recovery.js'

const remains = (change: Partial<RemainingContext> = {}): RemainingContext => ({
  summary: '',
  kept: '',
  keptLines: [],
  sinceLine: 0,
  ...change,
})

const FACTS = [
  aFact('request', 'Fix the login form', { line: 1, detail: { last: true } }),
  aFact('constraint', 'Never touch legacy/auth.ts', { line: 1, state: 'forbidden' }),
  aFact('file', 'src/login.ts', { line: 5 }),
  aFact('file', 'src/session.ts', { line: 9 }),
]

test('a loss report counts every fact once, by kind, and keeps the order of lost facts', () => {
  const report = reportLoss(FACTS, remains({ summary: 'The user wants the login form fixed. Changed src/login.ts.' }))
  expect(report).toEqual({
    total: 4,
    kept: 2,
    byKind: { request: { total: 1, kept: 1 }, constraint: { total: 1, kept: 0 }, file: { total: 2, kept: 1 } },
    lost: [FACTS[1], FACTS[3]],
  })
})

test('facts that the agent still sees count as kept, by their line or by the text of the kept tail', () => {
  expect(reportLoss(FACTS, remains({ keptLines: [1, 5, 9] }))).toMatchObject({ total: 4, kept: 4, lost: [] })
  expect(reportLoss(FACTS, remains({ kept: 'src/session.ts' })).lost).not.toContain(FACTS[3])
  expect(reportLoss(FACTS, remains({ summary: null })).kept).toBe(0)
})

test('from an earlier cycle, a loss report includes only facts that still bind', () => {
  const facts = [
    aFact('constraint', 'Keep the API', { line: 2 }),
    aFact('todo', 'Write docs', { line: 3 }),
    aFact('todo', 'Write tests', { line: 3, state: 'done' }),
    aFact('file', 'old.ts', { line: 4 }),
    aFact('file', 'new.ts', { line: 40 }),
  ]
  expect(reportLoss(facts, remains({ sinceLine: 20 })).lost.map(({ text }) => text)).toEqual([
    'Keep the API',
    'Write docs',
    'new.ts',
  ])
})

test('a loss report lists at most 200 facts and counts all', () => {
  const many = Array.from({ length: 500 }, (_, i) => aFact('file', `src/part-${i}.ts`))
  const report = reportLoss(many, remains())
  expect(report).toMatchObject({ total: 500, kept: 0, byKind: { file: { total: 500, kept: 0 } } })
  expect(report.lost).toHaveLength(200)
})
