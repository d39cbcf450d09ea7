import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { BatonError, EXIT } from '../lib/errors.js'
import { longBody, SIGNING_KEY, sampleOrigin } from './fixtures/samples.js'
import { storeBrief } from './keep-file.js'
import { readBrief } from './read-brief.js'

let root: string
let folder: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'baton-briefs-'))
  folder = join(root, 'home', 'briefs')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)
const keep = (sequence: number, body = 'what was done\n', changes = {}) =>
  storeBrief({ folder, key: SIGNING_KEY }, sampleOrigin(sequence, changes), body)

function refusal(work: () => unknown): BatonError {
  try {
    work()
  } catch (error) {
    expect(error).toBeInstanceOf(BatonError)
    return error as BatonError
  }
  throw new Error('it was not refused')
}

describe('storing a brief', () => {
  test('a brief is stored by seat, sequence and id, and reads back unchanged', () => {
    const { path, sha256 } = keep(12, longBody(12))
    expect(path).toBe(join(folder, 'seat_1', '0012-brief_12.md'))
    expect(sha256).toBe(createHash('sha256').update(readFileSync(path)).digest('hex'))
    expect(readBrief(path, SIGNING_KEY, sha256)).toEqual({
      verdict: 'genuine',
      body: longBody(12),
      origin: sampleOrigin(12),
    })
    expect(keep(123_456).path).toBe(join(folder, 'seat_1', '123456-brief_123456.md'))
  })

  test.each([0o000, 0o077, 0o777])('a brief is readable by its owner alone and read-only under umask %o', (umask) => {
    const before = process.umask(umask)
    try {
      const { path } = keep(1)
      expect([path, dirname(path), folder, dirname(folder)].map(modeOf)).toEqual(['400', '700', '700', '700'])
    } finally {
      process.umask(before)
    }
  })

  test('storing a brief restricts folders that others could read', () => {
    mkdirSync(join(folder, 'seat_1'), { recursive: true })
    for (const one of [folder, join(folder, 'seat_1')]) chmodSync(one, 0o755)
    keep(1)
    expect([folder, join(folder, 'seat_1')].map(modeOf)).toEqual(['700', '700'])
  })

  test('storing the same brief again is fine and does not touch the file', () => {
    const first = keep(1)
    const { mtimeMs, ino } = statSync(first.path)
    chmodSync(first.path, 0o644)
    expect(keep(1)).toEqual(first)
    expect(statSync(first.path)).toMatchObject({ mtimeMs, ino })
    expect(modeOf(first.path)).toBe('400')
    expect(readdirSync(dirname(first.path))).toEqual(['0001-brief_1.md'])
  })

  test('a brief is never replaced by another text, origin or key', () => {
    const { path } = keep(1)
    const before = readFileSync(path)
    const others = [
      () => keep(1, 'something else\n'),
      () => keep(1, undefined, { sessionId: 's2' }),
      () => storeBrief({ folder, key: Buffer.alloc(32, 8) }, sampleOrigin(1), 'what was done\n'),
    ]
    for (const other of others) expect(refusal(other)).toMatchObject({ exit: EXIT.refused })
    expect(readFileSync(path)).toEqual(before)
    expect(readdirSync(dirname(path))).toEqual(['0001-brief_1.md'])
  })

  test.each([
    { seatId: '../other' },
    { seatId: '' },
    { seatId: '.hidden' },
    { briefId: 'a/b' },
    { briefId: 'x'.repeat(200) },
    { sequence: 0 },
  ])('an id that would lead to another path is refused: %o', (changes) => {
    expect(() => keep(1, 'text', changes)).toThrow(RangeError)
    expect(existsSync(folder)).toBe(false)
  })

  test('storing a brief deletes temporary files of killed writers, and nothing of others', () => {
    mkdirSync(join(folder, 'seat_1'), { recursive: true })
    for (const name of ['.0001-brief_1.md.baton-999999999-1', 'notes.txt'])
      writeFileSync(join(folder, 'seat_1', name), 'half')
    keep(1)
    expect(readdirSync(join(folder, 'seat_1')).sort()).toEqual(['0001-brief_1.md', 'notes.txt'])
  })

  test('a brief that cannot be stored because of another file is reported', () => {
    mkdirSync(dirname(folder))
    writeFileSync(folder, 'mine')
    expect(refusal(() => keep(1)).hint).toContain('BATON_HOME')
    expect(readFileSync(folder, 'utf8')).toBe('mine')
  })
})
