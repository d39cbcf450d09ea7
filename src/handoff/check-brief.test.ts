import { describe, expect, test } from 'vitest'
import { spent } from '../../test/harness/growth.js'
import type { Fact } from '../contract/fact.js'
import { aFact } from '../facts/a-fact.js'
import { checkBrief } from './check-brief.js'

const facts: Fact[] = [
  aFact('request', 'make the retry wait longer', { line: 50 }),
  aFact('constraint', 'no new dependencies', { state: 'forbidden' }),
  aFact('file', 'src/retry.ts'),
  aFact('commit', 'Sort rows', { detail: { id: '4be91d2aaa' } }),
]

test('nothing happened: nothing is missing', () => {
  expect(checkBrief('', [], [])).toEqual({ score: 1, missing: [], unsupported: [], byKind: {} })
})

test('an empty brief scores 0, and all is told, most needed first', () => {
  const { score, missing, byKind } = checkBrief('', facts, [])
  expect(score).toBe(0)
  expect(missing.map(({ kind }) => kind)).toEqual(['request', 'constraint', 'file', 'commit'])
  expect(missing.at(-1)!.text).toBe('Sort rows (4be91d2aa)')
  expect(byKind.file).toEqual({ total: 1, kept: 0 })
})

test('what is needed more weighs more', () => {
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

test('files and figures of the brief before this one, and files git calls changed, are vouched for', () => {
  const body = '## State\n148k tokens\n## Files\nChanged:\n- src/old.ts\n- src/dirty.ts'
  expect(checkBrief(body, facts, []).unsupported).toEqual(['148k tokens', 'file: src/old.ts', 'file: src/dirty.ts'])
  const vouching = { earlier: 'was at 148,000 tokens; changed src/old.ts', dirty: ['src/dirty.ts'] }
  expect(checkBrief(body, facts, [], vouching).unsupported).toEqual([])
})

describe('bounded work', () => {
  const seeded = (seed: number) => (): number => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return seed / 2 ** 32
  }
  const random = seeded(3)
  const letter = (): string => String.fromCharCode(97 + Math.floor(random() * 26))
  const words = Array.from({ length: 3_000 }, () => Array.from({ length: 3 + Math.floor(random() * 7) }, letter).join(''))
  const sentence = (length: number): string =>
    Array.from({ length }, () => words[Math.floor(random() * random() * words.length)]).join(' ')
  const kinds = ['constraint', 'file', 'command', 'test', 'commit', 'todo', 'decision', 'question', 'error', 'request'] as const
  const many = Array.from({ length: 2_000 }, (_, i) => {
    const kind = kinds[i % kinds.length]!
    const text = kind === 'file' ? `src/${words[i]}/m${i}.ts` : `${sentence(12)} in m${i}.ts`
    return aFact(kind, text, { line: i + 1, ...(kind === 'constraint' && i % 3 === 0 ? { state: 'forbidden' } : {}) })
  })
  const readings = Array.from({ length: 3_000 }, (_, i) => ({ used: i * 40, window: 200_000, point: 167_000 }))

  test('2,000 facts and 100 kB of brief are compared within 100 ms', () => {
    let body = '# Handoff brief\n\n## Files\nChanged:\n'
    while (body.length < 30_000) body += `- src/${words[Math.floor(random() * 2_000)]}/m${Math.floor(random() * 2_000)}.ts\n`
    body += '\n## State\n'
    while (body.length < 100_000) body += `- ${sentence(14)}. Not ${sentence(9)}, 125k tokens of context.\n`
    // The best of several, and twice what is promised: other programs share the machine.
    const times = Array.from({ length: 8 }, () => spent(() => checkBrief(body, many, readings)))
    expect(Math.min(...times)).toBeLessThan(200)
  })

  test.each([
    ['one long line', 'a'.repeat(400_000)],
    ['digits', '1,234 '.repeat(60_000)],
    ['percentages', 'context 1% '.repeat(40_000)],
    ['paths', `## Files\nChanged: ${'a/'.repeat(150_000)}`],
    ['dots', '.'.repeat(300_000)],
    ['quotes', '>'.repeat(300_000)],
    ['dashes', '- '.repeat(150_000)],
    ['blanks', `x${' '.repeat(300_000)}x`],
  ])('strange text does not hold it up: %s', (_, body) => {
    expect(spent(() => checkBrief(body, facts, readings))).toBeLessThan(1_000)
  })
})
