import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findProjectFile, stampOf } from './find-project.js'

let folder: string
let me: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-project-'))
  me = join(folder, 'me')
  mkdirSync(join(me, 'shop', 'web', 'src'), { recursive: true })
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const put = (...path: string[]) => {
  const file = join(folder, ...path)
  writeFileSync(file, 'enabled: true\n')
  return file
}

describe('findProjectFile', () => {
  test('takes the file of the folder itself', () => {
    const file = put('me', 'shop', 'baton.yaml')
    expect(findProjectFile(join(me, 'shop'), me)).toBe(file)
    expect(findProjectFile(`${join(me, 'shop')}/`, me)).toBe(file)
  })

  test('takes the nearest above, up to the root of the repository', () => {
    mkdirSync(join(me, 'shop', '.git'))
    const root = put('me', 'shop', 'baton.yaml')
    expect(findProjectFile(join(me, 'shop', 'web', 'src'), me)).toBe(root)
    const nearer = put('me', 'shop', 'web', 'baton.yaml')
    expect(findProjectFile(join(me, 'shop', 'web', 'src'), me)).toBe(nearer)
  })

  test('never looks above the repository, nor above a worktree whose .git is a file', () => {
    put('me', 'baton.yaml')
    put('me', 'shop', 'baton.yaml')
    writeFileSync(join(me, 'shop', 'web', '.git'), 'gitdir: elsewhere\n')
    expect(findProjectFile(join(me, 'shop', 'web', 'src'), me)).toBeNull()
  })

  test('outside a repository looks below the home folder only, not in it', () => {
    put('me', 'baton.yaml')
    expect(findProjectFile(join(me, 'shop', 'web'), me)).toBeNull()
    const file = put('me', 'shop', 'baton.yaml')
    expect(findProjectFile(join(me, 'shop', 'web'), me)).toBe(file)
  })

  test('takes the file of the home folder when the work is there', () => {
    const file = put('me', 'baton.yaml')
    expect(findProjectFile(me, me)).toBe(file)
  })

  test('outside home and repository looks in the folder itself only', () => {
    put('baton.yaml')
    mkdirSync(join(folder, 'shared', 'mine'), { recursive: true })
    put('shared', 'baton.yaml')
    expect(findProjectFile(join(folder, 'shared', 'mine'), me)).toBeNull()
    expect(findProjectFile(join(folder, 'shared'), me)).toBe(join(folder, 'shared', 'baton.yaml'))
  })

  test('finds nothing in a folder that is not there', () => {
    expect(findProjectFile(join(folder, 'gone', 'deeper'), me)).toBeNull()
  })
})

describe('stampOf', () => {
  test('tells a file that was replaced by one of the same size and time', () => {
    const file = put('a.yaml')
    utimesSync(file, 1_000, 1_000)
    const before = stampOf(file)
    const other = put('b.yaml')
    utimesSync(other, 1_000, 1_000)
    renameSync(other, file)
    const after = stampOf(file)
    expect(after).toMatchObject({ exists: true, size: before.size, mtimeMs: before.mtimeMs })
    expect(after.mark).not.toBe(before.mark)
  })

  test('tells absent from what cannot be looked at', () => {
    expect(stampOf(join(folder, 'none'))).toMatchObject({ exists: false, mtimeMs: 0, size: 0 })
    expect(stampOf(join(put('file'), 'below'))).toMatchObject({ exists: false })
    expect(stampOf(join(folder, 'x'.repeat(300)))).toMatchObject({ exists: false })
    expect(stampOf(join(folder, 'a\0b'))).toMatchObject({ exists: false })
    symlinkSync('loop', join(folder, 'loop'))
    expect(stampOf(join(folder, 'loop'))).toMatchObject({ exists: true, mark: 'error:ELOOP' })
  })
})
