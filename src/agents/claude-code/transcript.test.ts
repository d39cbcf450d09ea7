import { appendFileSync, chmodSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { transcriptOf, VERSIONS } from '../../../test/harness/fixture.js'
import { tempDir } from '../../../test/harness/temp-dir.js'
import type { Cursor } from '../../contract/signal.js'
import { readTranscript, type TranscriptRead } from './transcript.js'

const MB = 1024 * 1024

interface AnswerOptions {
  id?: string
  used: number
  output?: number
  model?: string
  more?: object
  content?: unknown[]
}

function answer({
  id = `msg_${Math.random()}`,
  used,
  output = 50,
  model = 'claude-opus-4-6',
  more = {},
  content = [],
}: AnswerOptions): string {
  const usage = {
    input_tokens: 8,
    cache_creation_input_tokens: 1000,
    cache_read_input_tokens: used - 1008,
    output_tokens: output,
  }
  const message = { id, model, role: 'assistant', content, usage }
  const timestamp = '2026-11-15T20:00:00.000Z'
  return `${JSON.stringify({ type: 'assistant', isSidechain: false, timestamp, message, ...more })}\n`
}

const boundary = (trigger = 'auto'): string =>
  `${JSON.stringify({
    type: 'system',
    subtype: 'compact_boundary',
    compactMetadata: { trigger, preTokens: 170_080, postTokens: 2_677, durationMs: 53 },
  })}\n`
const user = (text: string): string => `${JSON.stringify({ type: 'user', message: { role: 'user', content: text } })}\n`
const refusal = `${JSON.stringify({
  type: 'assistant',
  isApiErrorMessage: true,
  errorDetails: '400 prompt is too long: 9 > 8',
  message: { model: '<synthetic>', content: [], usage: { input_tokens: 0, output_tokens: 0 } },
})}\n`

function file(text: string | Buffer = ''): string {
  const at = path.join(tempDir(), 's1.jsonl')
  writeFileSync(at, text)
  return at
}

const read = (at: string, from: Cursor | null = null): TranscriptRead => readTranscript(at, from, { chain: 'main' })
const figures = (result: TranscriptRead) =>
  result.observed.map((found) => (found.type === 'answer' ? found.reading.used : `compaction ${found.trigger}`))

describe.each(VERSIONS)('transcripts of client %s', (version) => {
  const whole = (name: string) => read(transcriptOf(version, name))

  test('thinking blocks and parallel tools are one answer, without those of a subagent', () => {
    const result = whole('parallel-and-subagent')
    expect(figures(result)).toEqual([50_008, 60_008, 70_008, 75_008])
    expect(result.spend).toMatchObject({ answers: 4, output: 200, input: 32 })
    expect(result.branch).toBe('main')
    expect(result.observed[0]).toMatchObject({
      reading: {
        model: 'claude-opus-4-6',
        source: 'transcript',
        exact: true,
        answerId: expect.stringMatching(/^msg_/),
      },
    })
  })

  test('a compaction is reported between the answers, with its figures', () => {
    const result = whole('compaction-proactive')
    expect(figures(result)).toEqual([150_008, 170_008, 'compaction auto', 30_008, 31_008])
    expect(result.observed[2]).toMatchObject({
      before: expect.any(Number),
      after: expect.any(Number),
      durationMs: expect.any(Number),
      overflow: false,
    })
  })

  test('a compaction after a refusal is reported too', () => {
    expect(figures(whole('compaction-reactive'))).toEqual([150_008, 170_008, 'compaction auto', 30_008, 31_008])
  })

  test('a refused prompt yields no figure', () => {
    const result = whole('refused')
    expect(figures(result)).toEqual([150_008])
    expect(result.cursor?.refused).toBe(true)
  })

  test("the requested window is part of the model's name", () => {
    expect(whole('large-window').observed.at(-1)).toMatchObject({ reading: { model: 'claude-sonnet-4-5[1m]' } })
  })

  test('the copied history of a branch names its origin, and does not count as spent', () => {
    const result = whole('branch')
    expect(result.copiedFrom).toMatch(/^[0-9a-f-]{36}$/)
    expect(result.observed.length).toBeGreaterThan(0)
    expect(result.spend.answers).toBe(0)
  })

  test('the copied history of a fork is read, but does not count as spent', () => {
    const at = transcriptOf(version, 'fork')
    const parent = whole('parallel-and-subagent').observed.length
    const all = read(at)
    expect(all.spend.answers).toBe(parent + 1)
    const since = Date.parse(/"dequeue","timestamp":"([^"]+)"/.exec(readFileSync(at, 'utf8'))![1]!)
    const own = readTranscript(at, null, { chain: 'main', spentSince: since })
    expect(own.spend.answers).toBe(1)
    expect(own.observed).toEqual(all.observed)
  })
})

describe('continuing a read', () => {
  test('each read continues where the last one ended', () => {
    const at = file(user('go') + answer({ used: 50_008 }))
    const first = read(at)
    expect(figures(first)).toEqual([50_008])
    expect(figures(read(at, first.cursor))).toEqual([])
    appendFileSync(at, answer({ used: 65_008 }))
    const second = read(at, first.cursor)
    expect(figures(second)).toEqual([65_008])
    expect(second.spend.answers).toBe(1)
  })

  test('an answer split over two reads counts once', () => {
    const at = file(answer({ id: 'msg_1', used: 50_008 }))
    const first = read(at)
    appendFileSync(at, answer({ id: 'msg_1', used: 50_008 }) + answer({ id: 'msg_2', used: 60_008 }))
    expect(figures(read(at, first.cursor))).toEqual([60_008])
  })

  test('an incomplete last line is left for the next read', () => {
    const line = answer({ used: 50_008 })
    const at = file(user('go') + line.slice(0, 60))
    const first = read(at)
    expect(figures(first)).toEqual([])
    appendFileSync(at, line.slice(60))
    expect(figures(read(at, first.cursor))).toEqual([50_008])
  })

  test('stamps rise with the lines, also after the file was replaced by a shorter one', () => {
    const at = file(user('x'.repeat(5000)) + answer({ used: 50_008 }) + answer({ used: 60_008 }))
    const first = read(at)
    writeFileSync(at, answer({ used: 20_008 }) + answer({ used: 25_008 }))
    const second = read(at, first.cursor)
    expect(figures(second)).toEqual([25_008])
    const stamps = [...first.observed, ...second.observed].map((found) =>
      found.type === 'answer' ? found.reading.stamp! : 0,
    )
    expect(stamps).toEqual([...stamps].sort((a, b) => a - b))
    appendFileSync(at, answer({ used: 27_008 }))
    expect(figures(read(at, second.cursor))).toEqual([27_008])
  })

  test('a session whose transcript moved is not counted twice', () => {
    const text = answer({ used: 50_008 }) + answer({ used: 60_008 })
    const first = read(file(text))
    const second = read(file(text), first.cursor)
    expect(second.observed).toEqual([])
    expect(second.spend.answers).toBe(0)
  })

  test('an emptied file is read from its start', () => {
    const at = file(answer({ used: 50_008 }))
    const first = read(at)
    truncateSync(at)
    const second = read(at, first.cursor)
    expect(figures(second)).toEqual([])
    appendFileSync(at, answer({ used: 60_008 }))
    expect(figures(read(at, second.cursor))).toEqual([60_008])
  })

  test('the output of an answer that still streams is completed by its last line', () => {
    const at = file(
      answer({ id: 'msg_1', used: 50_008, output: 1 }) + answer({ id: 'msg_1', used: 50_008, output: 900 }),
    )
    expect(read(at).spend).toMatchObject({ answers: 1, output: 900 })
  })
})

describe('ignored lines', () => {
  const lines: [string, string][] = [
    ['synthetic', answer({ used: 9_008, model: '<synthetic>' })],
    ['an error of the API', answer({ used: 9_008, more: { isApiErrorMessage: true } })],
    ['a sidechain', answer({ used: 9_008, more: { isSidechain: true } })],
    [
      'all zero',
      `${JSON.stringify({
        type: 'assistant',
        message: { id: 'z', model: 'm', usage: { input_tokens: 0, output_tokens: 0 } },
      })}\n`,
    ],
    [
      'a tool result that holds a usage',
      `${JSON.stringify({ type: 'user', toolUseResult: { usage: { input_tokens: 9000 } } })}\n`,
    ],
    ['a text about usage', user('{"type":"assistant","message":{"usage":{"input_tokens":5}}} "compact_boundary"')],
    ['an unknown type', '{"type":"api-request-blob","usage":{"input_tokens":5}}\n'],
    ['invalid JSON', '{"type":"assistant","usage":{"input_tokens":5}\n'],
    ['not an object', '[{"usage":{}}]\n"usage":\nnull\n'],
    ['an empty line', '\r\n\n'],
  ]
  test.each(lines)('a line is ignored when it is %s', (_, line) => {
    const at = file(answer({ used: 50_008 }) + line)
    expect(figures(read(at))).toEqual([50_008])
    expect(read(at).spend.answers).toBe(1)
  })

  test('CRLF line ends make no difference', () => {
    expect(figures(read(file((answer({ used: 50_008 }) + boundary('manual')).replaceAll('\n', '\r\n'))))).toEqual([
      50_008,
      'compaction manual',
    ])
  })
})

test('a compaction after a refusal is an overflow, and a later one is not', () => {
  const at = file(answer({ used: 190_008 }) + refusal)
  const first = read(at)
  appendFileSync(at, boundary() + answer({ used: 30_008 }) + boundary())
  expect(read(at, first.cursor).observed).toMatchObject([{ overflow: true }, { type: 'answer' }, { overflow: false }])
})

describe('a long transcript seen for the first time', () => {
  const filler = user('y'.repeat(100_000)).repeat(60)

  test('a long new transcript yields only its newest answer, and is read further from its end', () => {
    const torn = answer({ used: 99_008 })
    const at = file(answer({ used: 10_008 }) + filler + answer({ used: 90_008 }) + user('result') + torn.slice(0, 30))
    const first = read(at)
    expect(figures(first)).toEqual([90_008])
    expect(first.cursor?.skipped).toBeGreaterThan(5 * MB)
    expect(first.spend.answers).toBe(1)
    appendFileSync(at, torn.slice(30))
    expect(figures(read(at, first.cursor))).toEqual([99_008])
  })

  test('a long new transcript that ends with a compaction has an unknown figure', () => {
    const at = file(answer({ used: 170_008 }) + filler + boundary() + user('z'.repeat(200_000)))
    expect(figures(read(at))).toEqual(['compaction auto'])
  })

  test('a long new transcript shows that its newest compaction followed a refusal', () => {
    const at = file(filler + answer({ used: 190_008 }) + refusal + boundary() + user('after'))
    expect(read(at).observed).toMatchObject([{ type: 'compaction', overflow: true }])
  })

  test.runIf(process.platform === 'linux')('only the end of a long transcript is read', () => {
    const at = file()
    const block = Buffer.from(user('y'.repeat(1_000_000)).repeat(10))
    for (let i = 0; i < 2; i++) appendFileSync(at, block)
    appendFileSync(at, answer({ used: 123_008 }) + user('w'.repeat(50_000)))
    /** Returns the bytes that this process has read from files so far. */
    const bytesRead = (): number => Number(/^rchar: (\d+)/.exec(readFileSync('/proc/self/io', 'utf8'))![1])
    const before = bytesRead()
    expect(figures(read(at))).toEqual([123_008])
    expect(bytesRead() - before).toBeLessThan(2 * MB)
  })

  test('a long new transcript without an answer near its end yields none', () => {
    expect(read(file(filler))).toMatchObject({ observed: [], cursor: { offset: Buffer.byteLength(filler) } })
  })
})

describe('very long lines', () => {
  test('a line of 50 MB is skipped in bounded memory', () => {
    const at = file(answer({ used: 50_008 }))
    const first = read(at)
    appendFileSync(
      at,
      Buffer.concat([Buffer.from('{"type":"user","usage":"'), Buffer.alloc(50 * MB, 'x'), Buffer.from('"}\n')]),
    )
    appendFileSync(at, answer({ used: 60_008 }))
    const before = process.memoryUsage().rss
    expect(figures(read(at, first.cursor))).toEqual([60_008])
    expect(process.memoryUsage().rss - before).toBeLessThan(40 * MB)
  })

  test('a file that is one unfinished line is never read twice', () => {
    const at = file(Buffer.alloc(70 * MB, 'x'))
    const first = read(at)
    expect(first).toMatchObject({ observed: [], cursor: { offset: 70 * MB, midLine: true } })
    appendFileSync(at, `x\n${answer({ used: 50_008 })}`)
    const second = read(at, first.cursor)
    expect(figures(second)).toEqual([50_008])
    expect(second.cursor?.midLine).toBeUndefined()
  })

  test('more new lines than one read allows are skipped up to the newest answer', () => {
    const at = file(answer({ used: 50_008 }))
    const first = read(at)
    const block = Buffer.from(answer({ used: 70_008 }) + user('y'.repeat(10_000_000)))
    for (let i = 0; i < 7; i++) appendFileSync(at, block)
    appendFileSync(at, answer({ id: 'newest', used: 90_008 }))
    const second = read(at, first.cursor)
    expect(figures(second)).toEqual([90_008])
    expect(second.cursor).toMatchObject({ answerId: 'newest', skipped: expect.any(Number) })
  })
})

test('a file that is not readable is no transcript', () => {
  const dir = tempDir()
  mkdirSync(path.join(dir, 'folder.jsonl'))
  writeFileSync(path.join(dir, 'empty.jsonl'), '')
  expect(read(path.join(dir, 'missing.jsonl')).cursor).toBeNull()
  expect(read(path.join(dir, 'folder.jsonl')).cursor).toBeNull()
  expect(read('').cursor).toBeNull()
  expect(read('/dev/zero').cursor).toBeNull()
  expect(read(path.join(dir, 'empty.jsonl'))).toMatchObject({ observed: [], cursor: { offset: 0 } })
  if (process.getuid?.() !== 0) {
    chmodSync(path.join(dir, 'empty.jsonl'), 0)
    expect(read(path.join(dir, 'empty.jsonl')).cursor).toBeNull()
  }
})

test("a subagent's own transcript is read as its main chain", () => {
  const at = file(answer({ used: 20_008, more: { isSidechain: true } }))
  expect(readTranscript(at, null, { chain: 'subagent' }).observed).toMatchObject([{ reading: { used: 20_008 } }])
})

describe('a failed compaction', () => {
  const line = (entry: object): string => `${JSON.stringify(entry)}\n`
  const command = (words: string, name = 'compact'): string =>
    line({
      type: 'system',
      subtype: 'local_command',
      content: `<local-command-stderr>${words}</local-command-stderr>`,
      commandRun: { command: name },
      commandOutcome: { kind: 'failed' },
    })
  const thrashing = line({
    type: 'assistant',
    apiError: 'autocompact_thrashing',
    isApiErrorMessage: true,
    message: { model: '<synthetic>', content: [], usage: { input_tokens: 0 } },
  })

  test.each([
    ['blocked', command('Compaction blocked by PreCompact hook: [x]: no')],
    ['failed', command('Error during compaction: API Error: 400')],
    ['failed', line({ type: 'user', interruptedMessageId: 'msg_1', message: { role: 'user', content: [] } })],
    ['thrashing', thrashing],
    ['stopped', refusal],
    [null, command('blocked by PreCompact hook', 'model')],
    [null, user('"commandOutcome": compact "interruptedMessageId": x')],
  ])('a failed compaction is read with its outcome %s', (how, text) => {
    expect(read(file(answer({ used: 160_008 }) + text)).gaveUp).toBe(how)
    expect(read(file(text + boundary())).gaveUp).toBeNull()
  })
})
