import { describe, expect, test } from 'vitest'
import type { Fact } from '../contract/fact.js'
import { aFact } from '../testing/sample-fact.js'
import { factsOfBrief } from './brief-facts.js'
import { checkBrief } from './check-brief.js'
import { completeBrief } from './complete-brief.js'

const facts: Fact[] = [
  aFact('request', 'make the retry wait longer', { line: 50 }),
  aFact('constraint', 'no new dependencies', { state: 'forbidden' }),
  aFact('file', 'src/retry.ts'),
  aFact('commit', 'Sort rows', { detail: { id: '4be91d2aaa' } }),
]

test('a session without facts misses nothing', () => {
  expect(checkBrief('', [], [])).toEqual({ score: 1, missing: [], unsupported: [], byKind: {} })
})

test('an empty brief scores 0, and all facts are listed as missing, most important first', () => {
  const { score, missing, byKind } = checkBrief('', facts, [])
  expect(score).toBe(0)
  expect(missing.map(({ kind }) => kind)).toEqual(['request', 'constraint', 'file', 'commit'])
  expect(missing.at(-1)!.text).toBe('Sort rows (4be91d2aa)')
  expect(byKind.file).toEqual({ total: 1, kept: 0 })
})

test('more important facts weigh more', () => {
  const without = (kind: string): number =>
    checkBrief(
      facts
        .filter((fact) => fact.kind !== kind)
        .map(({ text }) => `- ${text}`)
        .join('\n'),
      facts,
      [],
    ).score
  expect(without('request')).toBeLessThan(without('file'))
  expect(without('file')).toBeLessThan(without('commit'))
  expect(without('none')).toBe(1)
})

test('the previous brief and git are evidence for files and figures', () => {
  const body = '## State\n148k tokens\n## Files\nChanged:\n- src/old.ts\n- src/dirty.ts'
  expect(checkBrief(body, facts, []).unsupported).toEqual(['148k tokens', 'file: src/old.ts', 'file: src/dirty.ts'])
  const vouching = { earlier: 'was at 148,000 tokens; changed src/old.ts', dirty: ['src/dirty.ts'] }
  expect(checkBrief(body, facts, [], vouching).unsupported).toEqual([])
})

test('a brief that omits required calls scores below 100 %, unless it names the file that lists them', () => {
  const calls = { calls: ['- Bash echo 1 >> steps: done', '- Bash echo 2 >> steps: done'], path: null }
  const body = facts.map(({ text }) => `- ${text}`).join('\n')
  const without = checkBrief(body, facts, [], {}, calls)
  expect(without.score).toBeLessThan(1)
  expect(without.missing).toEqual([
    { kind: 'command', text: 'Bash echo 1 >> steps: done' },
    { kind: 'command', text: 'Bash echo 2 >> steps: done' },
  ])
  expect(checkBrief(`${body}\n${calls.calls.join('\n')}`, facts, [], {}, calls)).toMatchObject({
    score: 1,
    byKind: { command: { total: 2, kept: 2 } },
  })
  const inFile = { ...calls, path: '/jobs/calls-1.md' }
  expect(checkBrief(`${body}\nRead /jobs/calls-1.md first.`, facts, [], {}, inFile).score).toBe(1)
  expect(checkBrief(body, facts, [], {}, inFile).score).toBeLessThan(1)
})

describe('a next step from the previous brief', () => {
  const handed = aFact('todo', 'rename the column', { state: 'open', detail: { handed: true } })
  const missing = (brief: string): string[] => checkBrief(brief, [handed], []).missing.map(({ text }) => text)

  test('a next step from the previous brief is carried on if the brief names no next step', () => {
    expect(missing('# Handoff brief\n\n## State\nFine.\n')).toEqual(['rename the column'])
  })

  test('a next step from the previous brief is replaced by the one the brief names', () => {
    expect(missing('# Handoff brief\n\n## Next exact step\nWrite the index.\n')).toEqual([])
  })

  test('a todo that Baton added to the previous brief is carried on, whatever next step the brief names', () => {
    const todo = { kind: 'todo' as const, text: 'rename the column' }
    const before = completeBrief('# Handoff brief', { score: 0, missing: [todo], unsupported: [], byKind: {} })
    const brief = '# Handoff brief\n\n## Next exact step\nWrite the index.\n'
    expect(checkBrief(brief, factsOfBrief(before), []).missing).toEqual([todo])
    expect(checkBrief(`${brief}\nThe column is renamed: rename the column.`, factsOfBrief(before), []).missing).toEqual(
      [],
    )
  })
})

test('a missing decision quotes the title of a plan, which is the agent’s text', () => {
  const approved = aFact('decision', 'Drop `users` (plan approved)', { detail: { by: 'user', how: 'plan approved' } })
  expect(checkBrief('# Handoff brief', [approved], []).missing).toEqual([
    { kind: 'decision', text: "`Drop 'users'` (plan approved)" },
  ])
})
