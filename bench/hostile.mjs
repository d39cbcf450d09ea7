import { row } from './figures.mjs'
import { bundleSource } from './from-source.mjs'

export const about = 'text made to be slow to read, beside the same amount of prose'

/**
 * Upper bound: hostile text may take this many times as long as prose of the same length. Linear
 * work takes 1 to 3 times as long, quadratic work hundreds.
 */
const TIMES = 15
/**
 * Upper bound: one text may take this many times as long as the same text in sixteen pieces.
 * Quadratic work takes 16 times as long.
 */
const GROWTH = 4
/** Shortest measurement in milliseconds that is not mostly noise. */
const LEAST_MS = 20
const TRIES = 4
const LENGTH = 80_000

const filled = (part, length = LENGTH) => part.repeat(Math.ceil(length / part.length)).slice(0, length)
const PROSE = filled(
  'We keep the parser small, and it must never read a file twice. Then one test runs over all of it. ',
)

const SHAPES = {
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

/** Hostile commands and command output. */
const COMMANDS = {
  'a wide gap': ['npx vitest run', `FAIL a > b${filled(' ')}x\nTests  1 failed\n`],
  'a summary with a gap': ['npx vitest run', `Tests${filled(' ')}x`],
  'many summaries': ['pytest', `${filled('1 passed\n')}1 failed, 1 passed in 0.1s\n`],
  'empty lines': ['pytest', filled('\n')],
  'empty lines of another system': ['dotnet test', `${filled('\r\n')}Failed! - Failed: 1\n`],
  'empty lines of git': ['git commit -m x', filled('\n')],
  'options without a verb': [`git ${filled('-c ')}`, ''],
  'the same word again and again': [filled('make '), ''],
  'here-documents that do not end': [`echo $(${filled('<<A1\n')}`, ''],
}

const SUMMARIES = {
  dashes: `a${filled('-')}a`,
  'line numbers': `x${filled(':1')}y`,
  points: `${filled('.')}x`,
  'empty lines': filled('\n'),
  pipes: `ls${filled(' |head ')}`,
}

/** Text that is repeated in a transcript before it is redacted. */
const SECRETS = [
  'a',
  'a.',
  'password',
  '://',
  '@',
  'eyJ',
  'eyJ-',
  'eyJaaaaaaaa.',
  'password=',
  'token=',
  'token:',
  'password="',
  "token='\\",
  'password=(',
  'password: [',
  'password: ["a", ',
  '"',
  '\\',
  '\\"',
  'curl -u ',
  'curl -u a:',
  '-u ',
  '-p',
  '-b ',
  'mysql -px ',
  ';-u',
  'Cookie: a=',
  'cookie:',
  'authorization: basic ',
  'authorization:',
  'bearer ',
  '--token ',
  '--a-',
  'x-',
  '<password',
  '<a',
  '-----BEGIN PRIVATE KEY-----',
  'login a password ',
  'secret_access_key ',
  'a@b.',
  'a://b:',
  '\\\n',
  ' ',
  'sk-',
  '-pass pass:',
]

const BRIEFS = {
  'one long line': 'a'.repeat(400_000),
  digits: '1,234 '.repeat(60_000),
  percentages: 'context 1% '.repeat(40_000),
  paths: `## Files\nChanged: ${'a/'.repeat(150_000)}`,
  dots: '.'.repeat(300_000),
  quotes: '>'.repeat(300_000),
  dashes: '- '.repeat(150_000),
  blanks: `x${' '.repeat(300_000)}x`,
}

/** Returns the processor time of this process, which other work on the machine does not change. */
function spent(work) {
  const began = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(began)
  return (user + system) / 1000
}

/** Returns the fastest of several tries, because other work on the machine only adds time. */
function least(work, enough = 0) {
  let best = Number.POSITIVE_INFINITY
  for (let n = 0; n < TRIES && best > enough; n++) best = Math.min(best, spent(work))
  return best
}

/** Returns how many times as long one text takes as the same text in `times` pieces. */
function growth(work, size, times) {
  const [whole, piece] = [work(size * times), work(size)]
  const pieces = least(() => {
    for (let n = 0; n < times; n++) piece()
  }, LEAST_MS)
  return least(whole, Math.max(LEAST_MS, pieces)) / Math.max(LEAST_MS, pieces)
}

/** Makes a line of the table from the slowest of several cases. */
function slowest(name, measured, options) {
  const [text, value] = Object.entries(measured).reduce((a, b) => (b[1] > a[1] ? b : a))
  return row(name, value, { unit: 'x', n: Object.keys(measured).length, note: `slowest: ${text}`, ...options })
}

const mapped = (shapes, measure) => Object.fromEntries(Object.entries(shapes).map(([name, of]) => [name, measure(of)]))

export async function run() {
  const source = await import(
    await bundleSource([
      ...[
        'facts/facts.ts',
        'facts/prepared-text.ts',
        'testing/sample-fact.ts',
        'testing/sample-conversation.ts',
        'archive/redact.ts',
      ],
      'briefs/split-brief.ts',
      'briefs/check-brief.ts',
      'server/signal-door.ts',
    ])
  )
  const { startFacts, prepareText, aFact, said, called, returned, redactText, BUILT_IN_PATTERNS, E_MAIL } = source
  const { splitBrief, checkBrief, HEADER_LINE } = source
  const facts = (...entries) =>
    least(() => {
      const taken = startFacts()
      for (const entry of entries) taken.add(entry)
      taken.facts()
    }, LEAST_MS)
  const prose = Math.max(LEAST_MS, facts(said('user', PROSE)) + facts(said('agent', PROSE)))
  const inPieces = (shape) => [
    shape,
    `one over it ${shape}`,
    // Words that start a rule, and pieces short enough to be examined.
    shape.replace(/[\s\S]{1,1900}/g, 'one names over it $& x.\n\n'),
    shape.replace(/[\s\S]{1,1900}/g, 'one, not $&x!!\n\n'),
  ]
  const ofText = (shape) =>
    Math.max(...inPieces(shape).flatMap((text) => ['user', 'agent'].map((by) => facts(said(by, text))))) / prose
  const ofCommand = ([command, output]) => {
    const call = called({ type: 'command', command, background: false })
    return facts(call, returned(call, output, { ok: false, exitCode: 1 })) / prose
  }
  const judged = (words) =>
    least(() => {
      const prepared = prepareText(words)
      for (const kind of ['request', 'constraint', 'todo', 'command', 'file']) prepared.contains(aFact(kind, words))
    }, LEAST_MS)
  const judgedProse = Math.max(LEAST_MS, judged(PROSE))
  const questions = (count) =>
    facts(
      ...Array.from({ length: count }, (_, i) =>
        said('user', `Does part ${i} hold? Is part ${i} the right one? And why is it so?`),
      ),
    )
  const redacted = (shape) =>
    growth(
      (bytes) => {
        const text = `curl mysql sshpass redis-cli --token\n${shape.repeat(bytes / shape.length)}(`
        return () => redactText(text, [...BUILT_IN_PATTERNS, E_MAIL], new Map())
      },
      8_000,
      16,
    )
  const headings = growth(
    (count) => {
      const text = '## x\n'.repeat(count)
      return () => splitBrief(text)
    },
    2_000,
    16,
  )
  const header = growth(
    (blanks) => {
      const line = `X-A:${' '.repeat(blanks)}\x01`
      return () => {
        for (let n = 0; n < 50; n++) HEADER_LINE.test(line)
      }
    },
    1_000,
    16,
  )
  const few = [aFact('request', 'make the retry wait longer'), aFact('file', 'src/retry.ts')]
  const readings = Array.from({ length: 3_000 }, (_, i) => ({ used: i * 40, window: 200_000, point: 167_000 }))
  const plainBrief = Math.max(
    LEAST_MS,
    least(() => checkBrief(filled(PROSE, 300_000), few, readings), LEAST_MS),
  )
  const { long, many } = longBrief(aFact)
  return [
    slowest('facts of a message', mapped(SHAPES, ofText), { bound: TIMES, rule: 'prose' }),
    slowest('facts of a command', mapped(COMMANDS, ofCommand), { bound: TIMES, rule: 'prose' }),
    slowest(
      'facts of 8,000 questions in a row',
      { questions: questions(8_000) / Math.max(5, questions(1_000)) / 8 },
      { bound: GROWTH, rule: '8 times 1,000 questions' },
    ),
    slowest(
      'facts looked for in a summary',
      mapped(SUMMARIES, (text) => judged(text) / judgedProse),
      {
        bound: TIMES,
        rule: 'prose',
      },
    ),
    row(
      '1,500 facts looked for in 1.5 MB',
      least(() => lookFor(prepareText, aFact)),
      { bound: 2_000 },
    ),
    slowest('redaction', Object.fromEntries(SECRETS.map((shape) => [JSON.stringify(shape), redacted(shape)])), {
      bound: GROWTH,
      rule: 'the same in 16 pieces',
    }),
    slowest('headings of a brief', { headings }, { bound: GROWTH, rule: 'the same in 16 pieces' }),
    slowest('a header of a signal', { blanks: header }, { bound: GROWTH, rule: 'the same in 16 pieces' }),
    slowest(
      'check of a brief',
      mapped(BRIEFS, (text) => least(() => checkBrief(text, few, readings), LEAST_MS) / plainBrief),
      {
        bound: TIMES,
        rule: 'prose',
      },
    ),
    row(
      'check of 100 kB against 2,000 facts',
      least(() => checkBrief(long, many, readings)),
      { bound: 200 },
    ),
  ]
}

function lookFor(prepareText, aFact) {
  const text = Array.from({ length: 30_000 }, (_, i) => `The test of part ${i} in src/part-${i}.ts was run again.`)
  const facts = Array.from({ length: 1_500 }, (_, i) =>
    i % 2
      ? aFact('file', `src/part-${i * 3}.ts`)
      : aFact('constraint', `Never run the test of part ${i * 50} twice.`, { state: 'forbidden' }),
  )
  const prepared = prepareText(text.join('\n'), facts)
  return facts.filter((fact) => prepared.contains(fact)).length
}

/** Makes a brief of seeded random words, and facts of the same words. */
function longBrief(aFact) {
  let seed = 3
  const random = () => {
    seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0
    return seed / 2 ** 32
  }
  const letter = () => String.fromCharCode(97 + Math.floor(random() * 26))
  const words = Array.from({ length: 3_000 }, () =>
    Array.from({ length: 3 + Math.floor(random() * 7) }, letter).join(''),
  )
  const sentence = (length) =>
    Array.from({ length }, () => words[Math.floor(random() * random() * words.length)]).join(' ')
  const kinds = ['constraint', 'file', 'command', 'test', 'commit', 'todo', 'decision', 'question', 'error', 'request']
  const many = Array.from({ length: 2_000 }, (_, i) => {
    const kind = kinds[i % kinds.length]
    const text = kind === 'file' ? `src/${words[i]}/m${i}.ts` : `${sentence(12)} in m${i}.ts`
    return aFact(kind, text, { line: i + 1, ...(kind === 'constraint' && i % 3 === 0 ? { state: 'forbidden' } : {}) })
  })
  let long = '# Handoff brief\n\n## Files\nChanged:\n'
  while (long.length < 30_000)
    long += `- src/${words[Math.floor(random() * 2_000)]}/m${Math.floor(random() * 2_000)}.ts\n`
  long += '\n## State\n'
  while (long.length < 100_000) long += `- ${sentence(14)}. Not ${sentence(9)}, 125k tokens of context.\n`
  return { long, many }
}
