import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { parseYaml, readYaml } from './yaml-file.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-yaml-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('readYaml', () => {
  test('a YAML file is parsed into plain values', () => {
    const path = join(folder, 'a.yaml')
    writeFileSync(path, 'a: 1\r\nb:\r\n  - x\r\n')
    expect(readYaml(path)).toMatchObject({ value: { a: 1, b: ['x'] }, faults: [] })
  })

  test('a folder, a pipe, a missing file and an oversized file are reported as faults', () => {
    mkdirSync(join(folder, 'd.yaml'))
    writeFileSync(join(folder, 'big.yaml'), `a: "${'x'.repeat(64_000)}"\n`)
    expect(readYaml(join(folder, 'd.yaml')).faults[0]?.reason).toBe('is not a file')
    execFileSync('mkfifo', [join(folder, 'pipe.yaml')])
    expect(readYaml(join(folder, 'pipe.yaml')).faults[0]?.reason).toBe('is not a file')
    expect(readYaml(join(folder, 'none.yaml')).faults[0]?.reason).toMatch(/cannot be read: ENOENT/)
    expect(readYaml(join(folder, 'big.yaml')).faults[0]?.reason).toBe('is larger than 64 kB')
  })
})

describe('parseYaml', () => {
  test.each(['', '# only a comment\n', '---\n'])('the empty YAML file %j has the value null', (text) => {
    expect(parseYaml('f', text)).toMatchObject({ value: null, faults: [] })
  })

  test('every YAML syntax error is reported with its line', () => {
    const { value, faults } = parseYaml('f', 'a: 1\na: 2\nb: [1,\n')
    expect(value).toBeUndefined()
    expect(faults[0]).toEqual({ line: 2, reason: 'Map keys must be unique', hint: 'remove one of the two keys' })
    expect(faults.length).toBeGreaterThan(1)
  })

  test.each([
    ['a:\n\t- b\n', 2],
    ['a: "open\n', 2],
    ['a: 1\n---\nb: 2\n', 2],
    ['a: *nowhere\n', 1],
    ['a: 1\nb: !!js/function x\n', 2],
  ])('the invalid YAML %j is refused at line %i', (text, line) => {
    expect(parseYaml('f', text).faults[0]?.line).toBe(line)
  })

  test('a YAML pattern with a leading star is refused with a hint to quote it', () => {
    expect(parseYaml('f', 'when:\n  model: *opus*\n').faults).toEqual([
      {
        line: 2,
        reason: '`*opus*` refers to an anchor that does not exist',
        hint: "for a string, add quotes: '*opus*'",
      },
    ])
  })

  test('YAML aliases that expand without end are refused', () => {
    const rows = Array.from({ length: 12 }, (_, i) => `x${i + 1}: &x${i + 1} [${Array(10).fill(`*x${i}`).join(',')}]`)
    const { value, faults } = parseYaml('f', `x0: &x0 [lol]\n${rows.join('\n')}\n`)
    expect(value).toBeUndefined()
    expect(faults).toHaveLength(1)
  })

  test.each([`a: ${'['.repeat(5_000)}`, '- '.repeat(2_000), '? '.repeat(1_000), '{a: '.repeat(1_000)])(
    'YAML nested deeper than 60 levels is refused before it overflows the stack (%#)',
    (text) => {
      expect(parseYaml('f', text).faults).toEqual([
        { line: null, reason: 'is nested more than 60 levels deep', hint: '' },
      ])
    },
  )

  test('a YAML anchor that contains itself is refused', () => {
    expect(parseYaml('f', 'levels: &x [*x]\n').faults).toMatchObject([{ reason: 'an anchor contains itself' }])
  })

  test('a YAML file with a byte order mark is accepted', () => {
    expect(parseYaml('f', '\uFEFFa: 1\n')).toMatchObject({ value: { a: 1 }, faults: [] })
  })

  test('YAML keys that are maps print no warning', () => {
    const warned: unknown[] = []
    const listen = (warning: unknown) => warned.push(warning)
    process.on('warning', listen)
    parseYaml('f', '? {a: 1}\n: b\n')
    return new Promise<void>((done) => {
      setImmediate(() => {
        process.off('warning', listen)
        expect(warned).toEqual([])
        done()
      })
    })
  })
})

describe('lineOf', () => {
  const file = parseYaml(
    'f',
    'enabled: true\nlevels:\n  - name: a\n    at: 5\n  - name: b\n\n    at: 6\nother: &o\n  deep: 1\nsame: *o\n',
  )

  test.each([
    [['enabled'], 1],
    [['levels'], 2],
    [['levels', 0], 3],
    [['levels', 1, 'at'], 7],
    [['other', 'deep'], 9],
    [['same', 'deep'], 9],
  ])('the YAML key %j is found on line %i', (path, line) => {
    expect(file.lineOf(path)).toBe(line)
  })

  test('a missing YAML key has the line of its nearest written ancestor, or null', () => {
    expect(file.lineOf(['levels', 1, 'mode'])).toBe(5)
    expect(file.lineOf(['levels', 9])).toBe(2)
    expect(file.lineOf(['nothing'])).toBeNull()
    expect(file.lineOf([])).toBeNull()
  })
})

/** Builds a text of `count` lines, each from its number. */
const lines = (count: number, line: (i: number) => string) => Array.from({ length: count }, (_, i) => line(i)).join('')

test('a file of exactly 64 kB is read, and one byte more is refused with a hint', () => {
  const path = join(folder, 'size.yaml')
  writeFileSync(path, `a: "${'x'.repeat(64_000 - 6)}"\n`)
  expect(readYaml(path)).toMatchObject({ faults: [], bytes: { length: 64_000 } })
  writeFileSync(path, `a: "${'x'.repeat(64_000 - 5)}"\n`)
  expect(readYaml(path)).toMatchObject({
    bytes: null,
    faults: [{ line: null, reason: 'is larger than 64 kB', hint: expect.stringContaining('shorten the file') }],
  })
})

test('a YAML file with the largest accepted number of keys is read, each key with its line', () => {
  const { value, faults, lineOf } = parseYaml(
    'f',
    lines(857, (i) => `k${i}: x\n`),
  )
  expect(faults).toEqual([])
  expect(Object.keys(value as object)).toHaveLength(857)
  expect(lineOf(['k856'])).toBe(857)
})

test.each<[string, string]>([
  ['keys', lines(8_000, (i) => `k${i}: x\n`)],
  ['keys in braces', `{${lines(15_000, (i) => `${i.toString(36)},`)}}`],
  ['list entries', lines(16_000, () => '-\n')],
  ['anchors', lines(5_000, (i) => `- &a${i} x\n`)],
  ['comments', lines(30_000, () => '#\n')],
  ['commas in brackets', `[${','.repeat(60_000)}]`],
])('a 64 kB YAML file full of %s is refused before its tree is built', (_, text) => {
  const reason = 'has more than 6,000 YAML tokens (about 800 keys)'
  expect(parseYaml('f', text).faults).toMatchObject([{ line: null, reason }])
})

test('repeated YAML keys are found at every depth, in braces and among numbers, each on its line', () => {
  const text = 'a:\n  b: 1\n  c: 2\n  b: 3\nd: {e: 1, e: 2}\n1: x\n1: y\n? [s]\n: - t: 1\n    t: 2\n'
  expect(parseYaml('f', text).faults).toEqual(
    [4, 5, 7, 10].map((line) => ({ line, reason: 'Map keys must be unique', hint: 'remove one of the two keys' })),
  )
})

test('a YAML file with thousands of errors lists the first 20 and counts the others', () => {
  const { faults } = parseYaml(
    'f',
    lines(800, () => 'k: x\n'),
  )
  expect(faults).toHaveLength(21)
  expect(faults[19]).toMatchObject({ line: 21, reason: 'Map keys must be unique' })
  expect(faults[20]).toEqual({ line: null, reason: '779 more errors', hint: '' })
})

test('100 YAML aliases are accepted and more are refused, even with one anchor each', () => {
  const aliases = (count: number) =>
    `a:\n${lines(count, (i) => `- &a${i} x\n`)}b: [${lines(count, (i) => `*a${i} ,`)}]\n`
  expect(parseYaml('f', aliases(100))).toMatchObject({ faults: [], value: { b: Array(100).fill('x') } })
  expect(parseYaml('f', aliases(101)).faults).toMatchObject([{ reason: 'has more than 100 aliases' }])
})

test.each(['!!omap\n- a: 1\n', '!!set\n? a\n', '!!binary aGk=\n'])(
  'the YAML tag in %j is refused, because no setting needs its type',
  (text) => {
    expect(parseYaml('f', text).faults).toMatchObject([{ line: 1, reason: expect.stringContaining('Unresolved tag') }])
  },
)

test('a file that declares YAML 1.1 gets neither merge keys nor the other types of that version', () => {
  const { value, faults } = parseYaml('f', '%YAML 1.1\n---\na: &a {x: yes}\nb:\n  <<: *a\n')
  expect(faults).toEqual([])
  expect(value).toEqual({ a: { x: 'yes' }, b: { '<<': { x: 'yes' } } })
})
