import { describe, expect, test } from 'vitest'
import type { Fact } from '../contract/fact.js'
import { aFact } from '../testing/sample-fact.js'
import { checkBrief } from './check-brief.js'
import { CLAIM_WORDS } from './claim-words.js'
import { claimsOf, judgeClaims, markClaims } from './claims.js'
import { completeBrief } from './complete-brief.js'
import { searchTranscript } from './transcript-text.js'

const AT = Date.parse('2026-03-01T14:32:00.000Z')
const fact = (kind: Fact['kind'], text: string, state: Fact['state'], line: number): Fact => ({
  ...aFact(kind, text, { state, line }),
  at: AT,
})

const FACTS = [
  fact('test', 'npm test', 'failed', 40),
  fact('command', 'npm run lint', 'ok', 41),
  fact('file', 'src/cart.ts', 'changed', 30),
  fact('file', 'src/read.ts', 'read', 5),
  fact('commit', 'fix: round totals', null, 35),
  fact('command', 'git push origin main', 'ok', 36),
  fact('branch', 'feat/totals', null, 1),
]
const TRANSCRIPT = Buffer.from(
  [
    JSON.stringify({ text: 'npm test\n12 passed, 1 failed in src/cart.ts and src/read.ts' }),
    JSON.stringify({ text: '[feat/totals 4be19f2] fix: round totals\nneeds money 3.2.1, took 340 ms, see #77' }),
  ].join('\n'),
)
const brief = (text: string): string => `# Handoff brief\n\n## State\n\n${text}\n`
const judge = (text: string, facts: readonly Fact[] = FACTS) =>
  judgeClaims(brief(text), facts, searchTranscript(TRANSCRIPT, brief(text), ''))

describe('words of claims', () => {
  test.each(CLAIM_WORDS.flatMap(({ examples }) => examples.map(({ text, claims }) => [text, claims] as const)))(
    'the words of the sentence %j claim %j',
    (text, claims) => {
      expect(claimsOf(text).sort()).toEqual([...claims].sort())
    },
  )
})

describe('claims compared with the transcript', () => {
  test.each([
    ['All tests pass.', 'contradicted', '`npm test` failed at 2026-03-01 14:32 UTC (line 40)'],
    ['テストはすべて通っています。', 'contradicted', 'npm test'],
    ['The linter is failing.', 'contradicted', 'npm run lint'],
    ['The build is green.', 'unproven', 'no build'],
    ['Nothing was committed.', 'contradicted', 'fix: round totals'],
    ['The branch is not pushed yet.', 'contradicted', 'git push origin main'],
    ['`src/cart.ts` is unchanged.', 'contradicted', 'src/cart.ts'],
    ['Edited src/read.ts to sort.', 'unproven', 'which was read'],
    ['Work is on branch fix/other.', 'unproven', 'feat/totals'],
    ['Committed as 9ab12cd.', 'unproven', '9ab12cd'],
    ['Opened PR #78.', 'unproven', '#78'],
    ['Uses money 3.2.2.', 'unproven', '3.2.2'],
    ['It takes 341 ms.', 'unproven', '341 ms'],
    ['See `src/other.ts`.', 'unproven', 'src/other.ts'],
    ['13 tests passed.', 'contradicted', 'npm test'],
    ['Calls `roundHalfUp`.', 'unproven', 'roundHalfUp'],
  ])('the claim %j is marked as %s', (text, verdict, why) => {
    const [claim, ...others] = judge(text)
    expect(claim).toMatchObject({ sentence: text, verdict, why: expect.stringContaining(why) })
    expect(others).toEqual([])
  })

  test.each([
    'One test fails.',
    'The linter is clean.',
    'The fix is committed as 4be19f2 and pushed.',
    'Changed `src/cart.ts`.',
    'Work is on branch feat/totals.',
    'It takes 340 ms with money 3.2.1, see #77.',
    'The tests must pass before you push.',
    'The user wants all tests to pass.',
  ])('the true sentence %j is not marked', (text) => {
    expect(judge(text)).toEqual([])
  })

  test('a newer change contradicts that everything is committed', () => {
    const facts = [...FACTS, fact('file', 'src/late.ts', 'changed', 50)]
    expect(judge('Everything is committed.', facts)[0]).toMatchObject({
      verdict: 'contradicted',
      why: expect.stringContaining('src/late.ts'),
    })
    expect(judge('Everything is committed.')).toEqual([])
  })

  test('the line that holds the brief itself proves nothing', () => {
    const body = brief('This line is long enough to find the brief: committed as 9ab12cd.')
    const bytes = Buffer.from(`${TRANSCRIPT}\n${JSON.stringify({ text: body })}`)
    expect(judgeClaims(body, FACTS, searchTranscript(bytes, body, ''))).toHaveLength(1)
    expect(judgeClaims(body, FACTS, searchTranscript(bytes, body, 'was 9ab12cd'))).toEqual([])
  })

  test('without the transcript only facts are compared', () => {
    expect(judgeClaims(brief('All tests pass. Committed as 9ab12cd.'), FACTS, null)).toHaveLength(1)
  })

  test('quotations, code blocks and sections of plans claim no outcome', () => {
    for (const text of [
      '> All tests pass.',
      '```\nAll tests pass.\n```',
      'He said "all tests pass".',
      '## Next exact step\n\nAll tests pass.',
    ])
      expect(judge(text)).toEqual([])
  })
})

test('a completed brief has the verdict beside the sentence, once, and the check ignores it', () => {
  const body = brief('The work is done. All tests pass. More follows.')
  const coverage = checkBrief(body, FACTS, [], { transcript: TRANSCRIPT })
  const completed = completeBrief(body, coverage)
  expect(completed).toContain(
    'All tests pass. **[Baton: contradicted: `npm test` failed at 2026-03-01 14:32 UTC (line 40)]** More follows.',
  )
  const again = checkBrief(completed, FACTS, [], { transcript: TRANSCRIPT })
  expect(again.claims).toEqual(coverage.claims)
  expect(markClaims(completed, again.claims ?? []).match(/\[Baton: contradicted/g)).toHaveLength(1)
})
