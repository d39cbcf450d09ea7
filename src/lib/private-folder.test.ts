import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { keepFolderPrivate, makePrivateFolder } from './private-folder.js'

let root: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'baton-private-'))
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8)

describe('a folder for the owner alone', () => {
  test.each([0o000, 0o022, 0o077, 0o777])(
    'a private folder and its missing parents are created with mode 0700 under umask %o',
    (umask) => {
      const path = join(root, 'a', 'b', 'c')
      const before = process.umask(umask)
      try {
        makePrivateFolder(path)
      } finally {
        process.umask(before)
      }
      expect([path, dirname(path), dirname(dirname(path))].map(modeOf)).toEqual(['700', '700', '700'])
    },
  )

  test('an existing folder keeps its mode, unless it must be private, and permissions are never added', () => {
    const path = join(root, 'a')
    mkdirSync(path)
    chmodSync(path, 0o755)
    makePrivateFolder(path)
    expect(modeOf(path)).toBe('755')
    keepFolderPrivate(path)
    expect(modeOf(path)).toBe('700')
    chmodSync(path, 0o550)
    keepFolderPrivate(path)
    expect(modeOf(path)).toBe('500')
  })

  test('a private folder may be reached through a link and is refused in place of a file', () => {
    mkdirSync(join(root, 'real'))
    symlinkSync('real', join(root, 'link'))
    makePrivateFolder(join(root, 'link', 'in'))
    makePrivateFolder(join(root, 'link'))
    expect(modeOf(join(root, 'real', 'in'))).toBe('700')
    writeFileSync(join(root, 'file'), '')
    expect(() => makePrivateFolder(join(root, 'file'))).toThrow(/EEXIST/)
    expect(() => makePrivateFolder(join(root, 'file', 'in'))).toThrow(/ENOTDIR/)
  })
})
