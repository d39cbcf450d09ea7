import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { FileChanged, realTarget, removeFileIf, removeLeftovers, writeFileAtomic } from './atomic-file.js'

let root: string
let file: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'baton-atomic-')))
  file = join(root, 'file')
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

describe('writing', () => {
  test('an atomic write keeps the mode of the file it replaces and creates new files with mode 0600', () => {
    writeFileAtomic(file, 'a')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    writeFileAtomic(file, 'b', { mode: 0o640 })
    writeFileAtomic(file, 'c')
    expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['c', 0o640])
  })

  test('an atomic write follows links, also to a missing target, and leaves no temporary file', () => {
    mkdirSync(join(root, 'real'))
    symlinkSync('real/target', file)
    symlinkSync(file, join(root, 'again'))
    writeFileAtomic(join(root, 'again'), 'x')
    expect(readFileSync(join(root, 'real', 'target'), 'utf8')).toBe('x')
    expect(readdirSync(root).sort()).toEqual(['again', 'file', 'real'])
    expect(readdirSync(join(root, 'real'))).toEqual(['target'])
  })

  test('an atomic write refuses a file with unexpected content and changes nothing in its folder', () => {
    writeFileSync(file, 'theirs')
    expect(() => writeFileAtomic(file, 'ours', { expect: Buffer.from('old') })).toThrow(FileChanged)
    expect(() => writeFileAtomic(file, 'ours', { expect: null })).toThrow(FileChanged)
    expect(() => removeFileIf(file, Buffer.from('old'))).toThrow(FileChanged)
    expect([readFileSync(file, 'utf8'), readdirSync(root)]).toEqual(['theirs', ['file']])
  })

  test('readers see the old bytes until the new file is complete', () => {
    writeFileSync(file, 'old')
    const seen: string[] = []
    writeFileAtomic(file, 'new', { step: () => seen.push(readFileSync(file, 'utf8')) })
    expect([...seen, readFileSync(file, 'utf8')]).toEqual(['old', 'new'])
  })

  test('an atomic write into a missing folder fails with the reason', () => {
    expect(() => writeFileAtomic(join(root, 'no', 'file'), 'x')).toThrow(/ENOENT/)
  })
})

describe('leftovers', () => {
  test('temporary files of dead writers are removed, those of running writers and other files are kept', () => {
    const names = ['.file.baton-999999999-1', `.file.baton-${process.pid}-7`, '.file.baton-notes', 'file']
    for (const name of names) writeFileSync(join(root, name), '')
    removeLeftovers(root)
    expect(readdirSync(root).sort()).toEqual(names.slice(1).sort())
    removeLeftovers(join(root, 'nowhere'))
  })
})

describe('where a path really leads', () => {
  test('a real target is found through links to folders, chains of links and missing parts', () => {
    mkdirSync(join(root, 'a'))
    symlinkSync('a', join(root, 'b'))
    symlinkSync('b/none', join(root, 'c'))
    expect(realTarget(join(root, 'b', 'x', 'y'))).toBe(join(root, 'a', 'x', 'y'))
    expect(realTarget(join(root, 'c'))).toBe(join(root, 'a', 'none'))
    expect(existsSync(join(root, 'a', 'none'))).toBe(false)
  })

  test('the real target of links in a circle is the path itself', () => {
    symlinkSync('two', join(root, 'one'))
    symlinkSync('one', join(root, 'two'))
    expect(realTarget(join(root, 'one'))).toBe(join(root, 'one'))
  })
})
