import { expect, test } from 'vitest'
import { spent } from '../../test/harness/growth.js'
import type { Entry } from '../contract/conversation.js'
import { called, returned, said } from './a-conversation.js'
import { aFact } from './a-fact.js'
import { makeCarrier } from './carries.js'
import { startFacts } from './facts.js'

const LENGTH = 200_000
const filled = (part: string): string => part.repeat(Math.ceil(LENGTH / part.length)).slice(0, LENGTH)

/** How many times as long as prose anything else of the same length may take. It is one to three; a square of the length gives hundreds. */
const TIMES = 15
/** Beneath it nothing is told from the noise of the machine. */
const LEAST_MS = 20

function cost(...entries: Entry[]): number {
  const facts = startFacts()
  return spent(() => {
    for (const entry of entries) facts.take(entry)
    facts.facts()
  })
}

const PROSE = filled('We keep the parser small, and it must never read a file twice. Then one test runs over all of it. ')
const prose = Math.max(LEAST_MS, ...[1, 2].map(() => cost(said('user', PROSE)) + cost(said('agent', PROSE))))

const SHAPES: Record<string, string> = {
  'a dotted token': filled('a.b.'),
  'a dashed token': filled('a-'),
  'one long word': filled('a'),
  spaces: filled(' '),
  'commas and spaces': filled(', '),
  commas: filled('a, '),
  'double quotes': filled('"'),
  'single quotes': filled("'"),
  brackets: filled('(['),
  backticks: filled('`'),
  emoji: filled('🙂'),
  'points that end nothing': `${filled('.')}x`,
  'words without an end': filled('not is only every keep '),
  'verbs before a not': filled('is in, '),
  abbreviations: filled('e.g. '),
  'short lines': filled('a\n'),
  'lines of a stack': `at ${filled('x(')}`,
  'fences that do not end': filled('````x\n'),
  'tags that do not end': filled('<a>\nx\n</b>\n'),
  'rules that do not end': filled('--- BEGIN\n'),
  'Chinese without an end': filled('保持'),
}

test.each(Object.entries(SHAPES))('%s: takes about as long as prose', (_, shape) => {
  // Words that a rule may begin with, and pieces that are short enough to be looked at.
  const inSentences = shape.replace(/[\s\S]{1,1900}/g, 'one names over it $& x.\n\n')
  const denied = shape.replace(/[\s\S]{1,1900}/g, 'one, not $&x!!\n\n')
  for (const text of [shape, `one over it ${shape}`, inSentences, denied]) {
    for (const by of ['user', 'agent'] as const) expect(cost(said(by, text))).toBeLessThan(prose * TIMES)
  }
})

test('a rule stays one beside a token that is too long to be looked at', () => {
  const facts = startFacts()
  facts.take(said('user', `Never push to main. ${'a.b.'.repeat(1_000)}c only`))
  expect(facts.facts().flatMap(({ kind, text }) => (kind === 'constraint' ? [text] : []))).toEqual(['Never push to main.'])
})

test.each([
  ['a wide gap', 'npx vitest run', `FAIL a > b${filled(' ')}x\nTests  1 failed\n`],
  ['a summary with a gap', 'npx vitest run', `Tests${filled(' ')}x`],
  ['many summaries', 'pytest', `${filled('1 passed\n')}1 failed, 1 passed in 0.1s\n`],
  ['empty lines', 'pytest', filled('\n')],
  ['empty lines of another system', 'dotnet test', `${filled('\r\n')}Failed! - Failed: 1\n`],
  ['empty lines of git', 'git commit -m x', filled('\n')],
  ['options without a verb', `git ${filled('-c ')}`, ''],
  ['the same word again and again', filled('make '), ''],
  ['here-documents that do not end', `echo $(${filled('<<A1\n')}`, ''],
])('%s in a command or what it prints: read as quickly as prose', (_, command, output) => {
  const call = called({ type: 'command', command, background: false })
  expect(cost(call, returned(call, output, { ok: false, exitCode: 1 }))).toBeLessThan(prose * TIMES)
})

test.each([
  ['dashes', `a${filled('-')}a`],
  ['line numbers', `x${filled(':1')}y`],
  ['points', `${filled('.')}x`],
  ['empty lines', filled('\n')],
  ['pipes', `ls${filled(' |head ')}`],
])('a summary full of %s is judged as quickly as prose', (_, text) => {
  const judged = (words: string): number =>
    spent(() => {
      const carrier = makeCarrier(words)
      for (const kind of ['request', 'constraint', 'todo', 'command', 'file'] as const) carrier.carries(aFact(kind, words))
    })
  expect(judged(text)).toBeLessThan(Math.max(LEAST_MS, judged(PROSE)) * TIMES)
})

test('many questions of the user after one another are kept as quickly as few', () => {
  const asked = (count: number): number =>
    cost(
      ...Array.from({ length: count }, (_, i) =>
        said('user', `Does part ${i} hold? Is part ${i} the right one? And why is it so?`),
      ),
    )
  const few = Math.max(5, asked(2_000))
  expect(asked(16_000)).toBeLessThan(few * 8 * 4)
})
