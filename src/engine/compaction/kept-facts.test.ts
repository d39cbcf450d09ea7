import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { load } from '../../../test/corpus/load.js'
import { transcriptReaders } from '../../agents/readers.js'
import { forgetFacts } from './kept-facts.js'
import { readFacts } from './read-facts.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-facts-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const ID = 'd76d6c4d-ef1f-4334-9716-3be98836406b'
const place = (program = '1.0.0') => ({ folder: join(folder, 'facts'), program })
const transcriptFile = () => join(folder, 'transcript.jsonl')
const keptFile = () => join(folder, 'facts', ID)
const readOn = (change: { program?: string; every?: number | null; bytes?: number; withinMs?: number } = {}) => {
  const { program, every = 1, ...limits } = change
  return readFacts(transcriptReaders, 'claude-code', transcriptFile(), {
    ...limits,
    keeping: { place: place(program), sessionId: ID, every },
  })
}
const readWhole = (bytes?: number) => readFacts(transcriptReaders, 'claude-code', transcriptFile(), { bytes })

/** Returns a pseudorandom generator that repeats its numbers for a seed. */
function random(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
}

const corpus = [...load('seen'), ...load('unseen')]
const compacted = corpus.find(({ file: path }) => path.includes('compacted-auth'))!.file
const textLine = (text: string, line = 'user') =>
  `${JSON.stringify({ type: line, uuid: `u-${text}`, isSidechain: false, message: { role: line, content: text } })}\n`

describe('facts that are kept while the transcript grows', () => {
  test.each(corpus.map(({ file: path }, i) => [path.split('/').at(-1)!, path, i] as const))(
    'kept facts of a growing transcript equal those of a whole read: %s',
    (_, path, i) => {
      const bytes = readFileSync(path)
      const next = random(i + 1)
      const cuts = Array.from({ length: 6 }, () => Math.floor(next() * bytes.length)).sort((a, b) => a - b)
      let before = 0
      for (const cut of [...cuts, bytes.length]) {
        appendFileSync(transcriptFile(), bytes.subarray(before, cut))
        before = cut
        expect(readOn()).toEqual(readWhole())
      }
      expect(statSync(keptFile()).mode & 0o777).toBe(0o600)
    },
  )

  test('kept facts know where an earlier compaction ended', () => {
    cpSync(compacted, transcriptFile())
    const { sinceLine } = readOn()
    appendFileSync(transcriptFile(), textLine('And never touch the lexer.'))
    const after = readOn()
    expect(sinceLine).toBeGreaterThan(0)
    expect(after.sinceLine).toBe(sinceLine)
    expect(after).toEqual(readWhole())
  })

  test('reading continues from kept facts instead of the beginning', () => {
    cpSync(compacted, transcriptFile())
    readOn()
    const { size } = statSync(transcriptFile())
    const bytes = readFileSync(transcriptFile())
    // The part between beginning and end is not read again, so this change to it goes unnoticed.
    writeFileSync(
      transcriptFile(),
      Buffer.concat([bytes.subarray(0, 5000), Buffer.alloc(size - 10_000, 32), bytes.subarray(size - 5000)]),
    )
    expect(readWhole().facts.length).toBeLessThan(readOn().facts.length)
  })

  test('facts are not kept again for a few new words', () => {
    cpSync(compacted, transcriptFile())
    readOn()
    const first = readFileSync(keptFile())
    appendFileSync(transcriptFile(), textLine('Go on.'))
    readOn({ every: 100_000 })
    readOn({ every: null })
    expect(readFileSync(keptFile())).toEqual(first)
  })

  test('kept facts beyond the requested offset are not used', () => {
    cpSync(compacted, transcriptFile())
    const { size } = statSync(transcriptFile())
    appendFileSync(transcriptFile(), textLine('Now write the docs.'))
    readOn()
    expect(readOn({ bytes: size, every: null })).toEqual(readWhole(size))
    expect(readOn({ every: null })).toEqual(readWhole())
  })
})

describe('what was kept of something else is not used', () => {
  test.each([
    ['shorter', () => writeFileSync(transcriptFile(), textLine('Something else entirely.'))],
    [
      'rewritten in its place',
      () =>
        writeFileSync(
          transcriptFile(),
          readFileSync(transcriptFile()).map((byte, i) => (i < 400 && byte === 97 ? 98 : byte)),
        ),
    ],
    [
      'another file',
      () => {
        const bytes = readFileSync(transcriptFile())
        rmSync(transcriptFile())
        writeFileSync(join(folder, 'other'), '')
        writeFileSync(transcriptFile(), Buffer.concat([Buffer.from(textLine('First.')), bytes]))
      },
    ],
  ])('kept facts are not used when the transcript is %s', (_, change) => {
    cpSync(compacted, transcriptFile())
    readOn()
    change()
    expect(readOn({ every: null })).toEqual(readWhole())
  })

  test.each([
    ['cut short', (bytes: Buffer) => bytes.subarray(0, bytes.length - 100)],
    ['empty', () => Buffer.alloc(0)],
    ['damaged', (bytes: Buffer) => bytes.map((byte, i) => (i === bytes.length - 50 ? byte ^ 1 : byte))],
    [
      'of a later format',
      (bytes: Buffer) => Buffer.from(bytes.toString('latin1').replace('"format":"1 ', '"format":"2 '), 'latin1'),
    ],
    ['no state at all', () => Buffer.from('{}\n\u0000')],
  ])('a file of kept facts is not used when it is %s', (_, damage) => {
    cpSync(compacted, transcriptFile())
    readOn()
    writeFileSync(keptFile(), damage(readFileSync(keptFile())))
    appendFileSync(transcriptFile(), textLine('Go on.'))
    expect(readOn()).toEqual(readWhole())
    expect(readOn()).toEqual(readWhole())
  })

  test('facts kept by another program version are not used', () => {
    cpSync(compacted, transcriptFile())
    readOn()
    const first = readFileSync(keptFile())
    appendFileSync(transcriptFile(), textLine('Go on.'))
    expect(readOn({ program: '2.0.0' })).toEqual(readWhole())
    expect(readFileSync(keptFile())).not.toEqual(first)
  })

  test('facts of a session whose id is a path stay inside the folder', () => {
    cpSync(compacted, transcriptFile())
    const keeping = { place: place(), sessionId: '../../outside', every: 1 }
    readFacts(transcriptReaders, 'claude-code', transcriptFile(), { keeping })
    expect(readdirSync(folder).sort()).toEqual(['facts', 'transcript.jsonl'])
    expect(readdirSync(join(folder, 'facts'))).toHaveLength(1)
    forgetFacts(place().folder, '../../outside')
    expect(readdirSync(join(folder, 'facts'))).toHaveLength(0)
    expect(existsSync(transcriptFile())).toBe(true)
  })
})

describe('a transcript there is no time for', () => {
  test('a transcript that is too long to read in time gives the facts of its end, and the next read continues', () => {
    const bytes = readFileSync(compacted)
    for (let i = 0; i < 40; i++) appendFileSync(transcriptFile(), bytes)
    appendFileSync(transcriptFile(), textLine('Now write the docs, and never touch the lexer.'))
    const hurried = readOn({ withinMs: 0 })
    expect(hurried.whole).toBe(false)
    expect(hurried.reached).toBeLessThan(statSync(transcriptFile()).size)
    expect(hurried.facts[0]).toMatchObject({ kind: 'request', text: 'Now write the docs, and never touch the lexer.' })
    expect(readOn()).toEqual(readWhole())
  })
})
