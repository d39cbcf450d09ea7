import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { parseYaml, readYaml } from './yaml-file.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-yaml-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('readYaml', () => {
  it('reads a file into plain values', () => {
    const path = join(folder, 'a.yaml')
    writeFileSync(path, 'a: 1\r\nb:\r\n  - x\r\n')
    expect(readYaml(path)).toMatchObject({ value: { a: 1, b: ['x'] }, faults: [] })
  })

  it('names a folder, a pipe, a missing file and an oversized file as faults', () => {
    mkdirSync(join(folder, 'd.yaml'))
    writeFileSync(join(folder, 'big.yaml'), `a: "${'x'.repeat(256_001)}"\n`)
    expect(readYaml(join(folder, 'd.yaml')).faults[0]?.reason).toBe('is not a file')
    execFileSync('mkfifo', [join(folder, 'pipe.yaml')])
    expect(readYaml(join(folder, 'pipe.yaml')).faults[0]?.reason).toBe('is not a file')
    expect(readYaml(join(folder, 'none.yaml')).faults[0]?.reason).toMatch(/cannot be read: ENOENT/)
    expect(readYaml(join(folder, 'big.yaml')).faults[0]?.reason).toBe('is larger than 256 kB')
  })
})

describe('parseYaml', () => {
  it.each(['', '# only a comment\n', '---\n'])('gives null for the empty file %j', (text) => {
    expect(parseYaml('f', text)).toMatchObject({ value: null, faults: [] })
  })

  it('gives the line of every syntax error', () => {
    const { value, faults } = parseYaml('f', 'a: 1\na: 2\nb: [1,\n')
    expect(value).toBeUndefined()
    expect(faults[0]).toEqual({ line: 2, reason: 'Map keys must be unique', hint: 'write the key once' })
    expect(faults.length).toBeGreaterThan(1)
  })

  it.each([
    ['a:\n\t- b\n', 2],
    ['a: "open\n', 2],
    ['a: 1\n---\nb: 2\n', 2],
    ['a: *nowhere\n', 1],
    ['a: 1\nb: !!js/function x\n', 2],
  ])('refuses %j at line %i', (text, line) => {
    expect(parseYaml('f', text).faults[0]?.line).toBe(line)
  })

  it('tells that a pattern with a star in front needs quotes', () => {
    expect(parseYaml('f', 'when:\n  model: *opus*\n').faults).toEqual([
      { line: 2, reason: '`*opus*` refers to an anchor that is not there', hint: "in quotes it is a text: '*opus*'" },
    ])
  })

  it('refuses aliases that unfold without end', () => {
    const rows = Array.from({ length: 12 }, (_, i) => `x${i + 1}: &x${i + 1} [${Array(10).fill(`*x${i}`).join(',')}]`)
    const { value, faults } = parseYaml('f', `x0: &x0 [lol]\n${rows.join('\n')}\n`)
    expect(value).toBeUndefined()
    expect(faults).toHaveLength(1)
  })

  it.each([`a: ${'['.repeat(200_000)}`, '- '.repeat(100_000), '? '.repeat(1_000), '{a: '.repeat(50_000)])(
    'refuses what nests deeper than can be read, before it ends the process (%#)',
    (text) => {
      expect(parseYaml('f', text).faults).toEqual([{ line: null, reason: 'nests more than 60 deep', hint: '' }])
    },
  )

  it('refuses an anchor that holds itself', () => {
    expect(parseYaml('f', 'levels: &x [*x]\n').faults).toMatchObject([{ reason: 'an anchor holds itself' }])
  })

  it('reads a file with a byte order mark', () => {
    expect(parseYaml('f', '\uFEFFa: 1\n')).toMatchObject({ value: { a: 1 }, faults: [] })
  })

  it('says nothing on the console about keys that are maps', () => {
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

  it.each([
    [['enabled'], 1],
    [['levels'], 2],
    [['levels', 0], 3],
    [['levels', 1, 'at'], 7],
    [['other', 'deep'], 9],
    [['same', 'deep'], 9],
  ])('finds %j on line %i', (path, line) => {
    expect(file.lineOf(path)).toBe(line)
  })

  it('falls back to the nearest ancestor that is written, else says it does not know', () => {
    expect(file.lineOf(['levels', 1, 'mode'])).toBe(5)
    expect(file.lineOf(['levels', 9])).toBe(2)
    expect(file.lineOf(['nothing'])).toBeNull()
    expect(file.lineOf([])).toBeNull()
  })
})
