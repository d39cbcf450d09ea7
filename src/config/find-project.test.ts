import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { fileStampOf, findProjectFile } from './find-project.js'

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
  test('the project file in the folder itself is found', () => {
    const file = put('me', 'shop', 'baton.yaml')
    expect(findProjectFile(join(me, 'shop'), me)).toBe(file)
    expect(findProjectFile(`${join(me, 'shop')}/`, me)).toBe(file)
  })

  test('the nearest project file above is found, up to the root of the repository', () => {
    mkdirSync(join(me, 'shop', '.git'))
    const root = put('me', 'shop', 'baton.yaml')
    expect(findProjectFile(join(me, 'shop', 'web', 'src'), me)).toBe(root)
    const nearer = put('me', 'shop', 'web', 'baton.yaml')
    expect(findProjectFile(join(me, 'shop', 'web', 'src'), me)).toBe(nearer)
  })

  test('no project file above the repository or above a worktree is used', () => {
    put('me', 'baton.yaml')
    put('me', 'shop', 'baton.yaml')
    writeFileSync(join(me, 'shop', 'web', '.git'), 'gitdir: elsewhere\n')
    expect(findProjectFile(join(me, 'shop', 'web', 'src'), me)).toBeNull()
  })

  test('outside a repository, only folders below the home folder are searched', () => {
    put('me', 'baton.yaml')
    expect(findProjectFile(join(me, 'shop', 'web'), me)).toBeNull()
    const file = put('me', 'shop', 'baton.yaml')
    expect(findProjectFile(join(me, 'shop', 'web'), me)).toBe(file)
  })

  test('the project file of the home folder is used only for work in that folder', () => {
    const file = put('me', 'baton.yaml')
    expect(findProjectFile(me, me)).toBe(file)
  })

  test('outside home and repository, only the folder itself is searched', () => {
    put('baton.yaml')
    mkdirSync(join(folder, 'shared', 'mine'), { recursive: true })
    put('shared', 'baton.yaml')
    expect(findProjectFile(join(folder, 'shared', 'mine'), me)).toBeNull()
    expect(findProjectFile(join(folder, 'shared'), me)).toBe(join(folder, 'shared', 'baton.yaml'))
  })

  test('no project file is found in a missing folder', () => {
    expect(findProjectFile(join(folder, 'gone', 'deeper'), me)).toBeNull()
  })
})

describe('fileStampOf', () => {
  test('the stamp changes when a file is replaced by one of the same size and time', () => {
    const file = put('a.yaml')
    utimesSync(file, 1_000, 1_000)
    const before = fileStampOf(file)
    const other = put('b.yaml')
    utimesSync(other, 1_000, 1_000)
    renameSync(other, file)
    const after = fileStampOf(file)
    expect(after).toMatchObject({ exists: true, size: before.size, mtimeMs: before.mtimeMs })
    expect(after.mark).not.toBe(before.mark)
  })

  test('the stamp of an unreadable path differs from that of a missing file', () => {
    expect(fileStampOf(join(folder, 'none'))).toMatchObject({ exists: false, mtimeMs: 0, size: 0 })
    expect(fileStampOf(join(put('file'), 'below'))).toMatchObject({ exists: false })
    expect(fileStampOf(join(folder, 'x'.repeat(300)))).toMatchObject({ exists: false })
    expect(fileStampOf(join(folder, 'a\0b'))).toMatchObject({ exists: false })
    symlinkSync('loop', join(folder, 'loop'))
    expect(fileStampOf(join(folder, 'loop'))).toMatchObject({ exists: true, mark: 'error:ELOOP' })
  })
})
