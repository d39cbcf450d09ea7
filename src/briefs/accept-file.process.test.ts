import { spawnSync } from 'node:child_process'
import {
  chmodSync,
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
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { MAX_BRIEF_BYTES, readOfferedBriefFile } from './read-brief.js'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-accept-'))
  file = join(folder, 'brief.md')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function refused(path: string): string {
  const found = readOfferedBriefFile(path)
  if ('text' in found) throw new Error('it was accepted')
  expect(found.reason).toContain(path)
  return found.refused
}

describe('reading a file offered as a brief', () => {
  test('an offered file is read without its byte order mark', () => {
    writeFileSync(file, '\uFEFF# Göal\r\n\n🙂\n')
    expect(readOfferedBriefFile(file)).toEqual({ text: '# Göal\r\n\n🙂\n' })
  })

  test('an offered file is read through symbolic links', () => {
    writeFileSync(file, 'done')
    symlinkSync('brief.md', join(folder, 'one'))
    symlinkSync('one', join(folder, 'two'))
    expect(readOfferedBriefFile(join(folder, 'two'))).toEqual({ text: 'done' })
    symlinkSync('nowhere', join(folder, 'dangling'))
    expect(refused(join(folder, 'dangling'))).toBe('missing')
    symlinkSync('circle', join(folder, 'circle'))
    expect(refused(join(folder, 'circle'))).toBe('unreadable')
  })

  test('a file that does not exist is missing, whatever its path looks like', () => {
    writeFileSync(file, 'done')
    for (const path of [join(folder, 'no'), join(file, 'no'), '', `/${'x'.repeat(5000)}`, '/tmp/a\0b'])
      expect(refused(path)).toBe('missing')
  })

  test.each(['', ' \n\t\r\n', '\uFEFF', '\uFEFF\n'])('a file without any text is empty: %j', (text) => {
    writeFileSync(file, text)
    expect(refused(file)).toBe('empty')
  })

  test.each([
    ['a picture', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13])],
    ['text with a zero in it', Buffer.from('goal\0done')],
    ['another encoding', Buffer.from('Göal', 'latin1')],
    ['two bytes a letter', Buffer.from('\uFEFFgoal', 'utf16le')],
    ['a letter cut in half', Buffer.from('Göal').subarray(0, 2)],
  ])('a file that is not UTF-8 is binary: %s', (_, bytes) => {
    writeFileSync(file, bytes)
    expect(refused(file)).toBe('binary')
  })

  test('a file may have 1 MB and not a byte more, however large it is', () => {
    writeFileSync(file, 'x'.repeat(MAX_BRIEF_BYTES))
    expect(readOfferedBriefFile(file)).toEqual({ text: 'x'.repeat(MAX_BRIEF_BYTES) })
    writeFileSync(file, 'x'.repeat(MAX_BRIEF_BYTES + 1))
    expect(refused(file)).toBe('too-large')
    const fd = openSync(file, 'r+')
    ftruncateSync(fd, 3 * 1024 ** 3)
    closeSync(fd)
    expect(refused(file)).toBe('too-large')
  })

  test.skipIf(!existsSync('/proc/self/status'))('a file that reports no size is empty', () => {
    expect(refused('/proc/self/status')).toBe('empty')
  })

  test('a folder, a device or a pipe is refused without blocking', async () => {
    expect(refused(folder)).toBe('not-a-file')
    expect(refused('/dev/zero')).toBe('not-a-file')
    const pipe = join(folder, 'pipe')
    expect(spawnSync('mkfifo', [pipe]).status).toBe(0)
    expect(refused(pipe)).toBe('not-a-file')
    const server = createServer()
    await new Promise<void>((ready) => server.listen(join(folder, 'socket'), ready))
    expect(refused(join(folder, 'socket'))).toBe('not-a-file')
    server.close()
  })

  test.skipIf(process.getuid?.() === 0)('a file of another user is unreadable', () => {
    writeFileSync(file, 'secret')
    chmodSync(file, 0o000)
    expect(refused(file)).toBe('unreadable')
    mkdirSync(join(folder, 'closed'), { mode: 0o000 })
    expect(refused(join(folder, 'closed', 'file'))).toBe('unreadable')
  })
})
