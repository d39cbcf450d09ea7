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
import { readers } from '../../agents/readers.js'
import { forgetFacts } from './kept-facts.js'
import { readFacts } from './read-facts.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-facts-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const ID = 'd76d6c4d-ef1f-4334-9716-3be98836406b'
const place = (program = '1.0.0') => ({ folder: join(folder, 'facts'), program })
const file = () => join(folder, 'transcript.jsonl')
const kept = () => join(folder, 'facts', ID)
const goOn = (change: { program?: string; every?: number | null; bytes?: number; withinMs?: number } = {}) => {
  const { program, every = 1, ...limits } = change
  return readFacts(readers, 'claude-code', file(), {
    ...limits,
    keeping: { place: place(program), sessionId: ID, every },
  })
}
const whole = (bytes?: number) => readFacts(readers, 'claude-code', file(), { bytes })

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
const words = (text: string, line = 'user') =>
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
        appendFileSync(file(), bytes.subarray(before, cut))
        before = cut
        expect(goOn()).toEqual(whole())
      }
      expect(statSync(kept()).mode & 0o777).toBe(0o600)
    },
  )

  test('kept facts know where an earlier compaction ended', () => {
    cpSync(compacted, file())
    const { sinceLine } = goOn()
    appendFileSync(file(), words('And never touch the lexer.'))
    const after = goOn()
    expect(sinceLine).toBeGreaterThan(0)
    expect(after.sinceLine).toBe(sinceLine)
    expect(after).toEqual(whole())
  })

  test('reading continues from kept facts instead of the beginning', () => {
    cpSync(compacted, file())
    goOn()
    const { size } = statSync(file())
    const bytes = readFileSync(file())
    // The part between beginning and end is not read again, so this change to it goes unnoticed.
    writeFileSync(
      file(),
      Buffer.concat([bytes.subarray(0, 5000), Buffer.alloc(size - 10_000, 32), bytes.subarray(size - 5000)]),
    )
    expect(whole().facts.length).toBeLessThan(goOn().facts.length)
  })

  test('facts are not kept again for a few new words', () => {
    cpSync(compacted, file())
    goOn()
    const first = readFileSync(kept())
    appendFileSync(file(), words('Go on.'))
    goOn({ every: 100_000 })
    goOn({ every: null })
    expect(readFileSync(kept())).toEqual(first)
  })

  test('kept facts beyond the requested offset are not used', () => {
    cpSync(compacted, file())
    const { size } = statSync(file())
    appendFileSync(file(), words('Now write the docs.'))
    goOn()
    expect(goOn({ bytes: size, every: null })).toEqual(whole(size))
    expect(goOn({ every: null })).toEqual(whole())
  })
})

describe('what was kept of something else is not used', () => {
  test.each([
    ['shorter', () => writeFileSync(file(), words('Something else entirely.'))],
    [
      'rewritten in its place',
      () =>
        writeFileSync(
          file(),
          readFileSync(file()).map((byte, i) => (i < 400 && byte === 97 ? 98 : byte)),
        ),
    ],
    [
      'another file',
      () => {
        const bytes = readFileSync(file())
        rmSync(file())
        writeFileSync(join(folder, 'other'), '')
        writeFileSync(file(), Buffer.concat([Buffer.from(words('First.')), bytes]))
      },
    ],
  ])('kept facts are not used when the transcript is %s', (_, change) => {
    cpSync(compacted, file())
    goOn()
    change()
    expect(goOn({ every: null })).toEqual(whole())
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
    cpSync(compacted, file())
    goOn()
    writeFileSync(kept(), damage(readFileSync(kept())))
    appendFileSync(file(), words('Go on.'))
    expect(goOn()).toEqual(whole())
    expect(goOn()).toEqual(whole())
  })

  test('facts kept by another program version are not used', () => {
    cpSync(compacted, file())
    goOn()
    const first = readFileSync(kept())
    appendFileSync(file(), words('Go on.'))
    expect(goOn({ program: '2.0.0' })).toEqual(whole())
    expect(readFileSync(kept())).not.toEqual(first)
  })

  test('facts of a session whose id is a path stay inside the folder', () => {
    cpSync(compacted, file())
    const keeping = { place: place(), sessionId: '../../outside', every: 1 }
    readFacts(readers, 'claude-code', file(), { keeping })
    expect(readdirSync(folder).sort()).toEqual(['facts', 'transcript.jsonl'])
    expect(readdirSync(join(folder, 'facts'))).toHaveLength(1)
    forgetFacts(place().folder, '../../outside')
    expect(readdirSync(join(folder, 'facts'))).toHaveLength(0)
    expect(existsSync(file())).toBe(true)
  })
})

describe('a transcript there is no time for', () => {
  test('a transcript that is too long to read in time gives the facts of its end, and the next read continues', () => {
    const bytes = readFileSync(compacted)
    for (let i = 0; i < 40; i++) appendFileSync(file(), bytes)
    appendFileSync(file(), words('Now write the docs, and never touch the lexer.'))
    const hurried = goOn({ withinMs: 0 })
    expect(hurried.whole).toBe(false)
    expect(hurried.reached).toBeLessThan(statSync(file()).size)
    expect(hurried.facts[0]).toMatchObject({ kind: 'request', text: 'Now write the docs, and never touch the lexer.' })
    expect(goOn()).toEqual(whole())
  })
})
