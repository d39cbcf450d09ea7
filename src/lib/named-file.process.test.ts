import { execFileSync } from 'node:child_process'
import {
  chownSync,
  closeSync,
  existsSync,
  ftruncateSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { namesInFolder, openNamedFile, readNamedFile, readNamedText, sizeOfNamedFile } from './named-file.js'

const isRoot = process.geteuid?.() === 0

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'baton-test-named-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

const refusal = (path: string): unknown => {
  const read = readNamedFile(path, { owner: 'this-user', most: 100 })
  return 'refused' in read ? [read.refused, read.kind] : read.bytes.toString()
}

test('a named file is read up to a limit, and the result says whether there is more', () => {
  const file = join(newFolder(), 'x')
  writeFileSync(file, 'abcdef')
  expect(readNamedFile(file, { owner: 'this-user', most: 4 })).toMatchObject({ bytes: Buffer.from('abcd'), more: true })
  expect(readNamedText(file, { owner: 'this-user', most: 4 })).toBeNull()
  expect(readNamedText(file, { owner: 'this-user', most: 6 })).toBe('abcdef')
  expect(sizeOfNamedFile(file, 'this-user')).toBe(6)
})

test('pipes, folders and devices at a named path are refused without being opened', () => {
  const folder = newFolder()
  execFileSync('mkfifo', [join(folder, 'pipe')])
  symlinkSync('/dev/zero', join(folder, 'zero'))
  expect(refusal(join(folder, 'pipe'))).toEqual(['not-a-file', 'a pipe'])
  expect(refusal(folder)).toEqual(['not-a-file', 'a folder'])
  expect(refusal(join(folder, 'zero'))).toEqual(['not-a-file', 'a device'])
})

test('a path that no file can have is refused as missing', () => {
  const folder = newFolder()
  writeFileSync(join(folder, 'file'), '')
  for (const path of [join(folder, 'none'), join(folder, 'file', 'x'), '/tmp/a\0b', `/${'x'.repeat(300)}`, ''])
    expect(refusal(path)).toEqual(['missing', null])
})

test('a link at a named path is followed unless the caller refuses links', () => {
  const folder = newFolder()
  writeFileSync(join(folder, 'file'), 'text')
  symlinkSync('file', join(folder, 'link'))
  expect(refusal(join(folder, 'link'))).toBe('text')
  expect(openNamedFile(join(folder, 'link'), 'this-user', { links: 'refuse' })).toMatchObject({ refused: 'unreadable' })
})

test('a link that leads to itself is refused as unreadable', () => {
  const link = join(newFolder(), 'loop')
  symlinkSync('loop', link)
  expect(refusal(link)).toEqual(['unreadable', null])
})

test('reading 10 bytes of a sparse file of 3 GB returns only those bytes', () => {
  const file = join(newFolder(), 'x')
  const fd = openSync(file, 'w')
  ftruncateSync(fd, 3 * 1024 ** 3)
  closeSync(fd)
  expect(readNamedFile(file, { owner: 'this-user', most: 10 })).toMatchObject({ bytes: Buffer.alloc(10), more: true })
})

test.skipIf(!existsSync('/proc/self/status'))('a file of /proc, which reports size 0, is read as empty', () => {
  expect(refusal('/proc/self/status')).toBe('')
})

test.skipIf(!isRoot)('a file of another user is refused unless any owner is allowed', () => {
  const file = join(newFolder(), 'x')
  writeFileSync(file, 'text')
  chownSync(file, 65_534, 65_534)
  expect(refusal(file)).toEqual(['other-owner', null])
  expect(readNamedText(file, { owner: 'this-user-or-root', most: 100 })).toBeNull()
  expect(readNamedText(file, { owner: 'anyone', most: 100 })).toBe('text')
})

test('the names in a folder are sorted and limited, and a file has none', () => {
  const folder = newFolder()
  for (const name of ['c', 'a', 'b']) mkdirSync(join(folder, name))
  writeFileSync(join(folder, 'd'), '')
  expect(namesInFolder(folder, 10)).toEqual(['a', 'b', 'c', 'd'])
  expect(namesInFolder(folder, 2)).toHaveLength(2)
  expect(namesInFolder(join(folder, 'd'), 10)).toEqual([])
  expect(namesInFolder(join(folder, 'none'), 10)).toEqual([])
})
