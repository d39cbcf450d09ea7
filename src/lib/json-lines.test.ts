import { appendFileSync, closeSync, openSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { tempDir } from '../../test/harness/temp-dir.js'
import { scanLines, scanLinesBackwards } from './json-lines.js'

const LONGEST = { longestLine: 1000 }

function openTemporaryFile(text: string): { fd: number; size: () => number; append: (more: string) => void } {
  const at = path.join(tempDir(), 'lines.jsonl')
  writeFileSync(at, text)
  const fd = openSync(at, 'r')
  onTestFinished(() => closeSync(fd))
  return { fd, size: () => statSync(at).size, append: (more) => appendFileSync(at, more) }
}

function scanForward(
  fd: number,
  from: number,
  to: number,
  options: { longestLine: number; midLine?: boolean } = LONGEST,
) {
  const lines: [number, string][] = []
  const scanned = scanLines(fd, from, to, options, (buffer, start, end, at) =>
    lines.push([at, buffer.toString('utf8', start, end)]),
  )
  return { lines, ...scanned }
}

function scanBackward(
  fd: number,
  to: number,
  options: { longestLine: number; most: number },
  stop: (line: string) => boolean = () => false,
) {
  const lines: [number, string][] = []
  const end = scanLinesBackwards(fd, to, options, (buffer, start, stopAt, at) => {
    const line = buffer.toString('utf8', start, stopAt)
    lines.push([at, line])
    return stop(line)
  })
  return { lines, end }
}

describe('forward', () => {
  test('a forward scan visits every complete line with its offset and without its line end', () => {
    const { fd, size } = openTemporaryFile('one\r\n\ntwo\nthrée\n')
    expect(scanForward(fd, 0, size())).toEqual({
      lines: [
        [0, 'one'],
        [6, 'two'],
        [10, 'thrée'],
      ],
      next: 17,
      midLine: false,
    })
  })

  test('a forward scan leaves an unfinished last line for the next scan', () => {
    const { fd, size, append } = openTemporaryFile('one\ntw')
    const first = scanForward(fd, 0, size())
    expect(first).toMatchObject({ lines: [[0, 'one']], next: 4 })
    append('o\n')
    expect(scanForward(fd, first.next, size())).toMatchObject({ lines: [[4, 'two']], next: 8 })
  })

  test('a forward scan joins lines that cross chunk borders', () => {
    const texts = Array.from({ length: 3000 }, (_, i) => `${i} ${'x'.repeat((i * 37) % 900)}`)
    const { fd, size } = openTemporaryFile(texts.map((text) => `${text}\n`).join(''))
    const { lines, next } = scanForward(fd, 0, size())
    expect(lines.map(([, line]) => line)).toEqual(texts)
    expect(next).toBe(size())
  })

  test('a forward scan skips a line longer than allowed and visits those around it', () => {
    const { fd, size } = openTemporaryFile(`one\n${'x'.repeat(700_000)}\ntwo\n`)
    expect(scanForward(fd, 0, size()).lines).toEqual([
      [0, 'one'],
      [700_005, 'two'],
    ])
  })

  test('a forward scan does not read an overlong unfinished line again and drops its end', () => {
    const { fd, size, append } = openTemporaryFile(`one\n${'x'.repeat(700_000)}`)
    const first = scanForward(fd, 0, size())
    expect(first).toMatchObject({ lines: [[0, 'one']], next: 700_004, midLine: true })
    append('xxx\ntwo\n')
    expect(scanForward(fd, first.next, size(), { ...LONGEST, midLine: true })).toMatchObject({
      lines: [[700_008, 'two']],
      midLine: false,
    })
  })

  test('a forward scan ends where the file was truncated meanwhile', () => {
    const { fd } = openTemporaryFile('one\n')
    expect(scanForward(fd, 0, 5000)).toMatchObject({ lines: [[0, 'one']], next: 4 })
  })
})

describe('backward', () => {
  const wide = { longestLine: 1000, most: 10_000_000 }

  test('a backward scan visits complete lines newest first and skips an unfinished one', () => {
    const { fd, size } = openTemporaryFile('one\ntwo\r\nthree\nfo')
    expect(scanBackward(fd, size(), wide)).toEqual({
      lines: [
        [9, 'three'],
        [4, 'two'],
        [0, 'one'],
      ],
      end: 15,
    })
  })

  test('a backward scan stops when the visitor returns true', () => {
    const { fd, size } = openTemporaryFile('one\ntwo\nthree\n')
    expect(scanBackward(fd, size(), wide, (line) => line === 'two').lines).toEqual([
      [8, 'three'],
      [4, 'two'],
    ])
  })

  test('a backward scan joins lines that cross chunk borders', () => {
    const texts = Array.from({ length: 3000 }, (_, i) => `${i} ${'x'.repeat((i * 37) % 900)}`)
    const { fd, size } = openTemporaryFile(texts.map((text) => `${text}\n`).join(''))
    expect(scanBackward(fd, size(), wide).lines.map(([, line]) => line)).toEqual(texts.reverse())
  })

  test('a backward scan skips a line longer than allowed', () => {
    const { fd, size } = openTemporaryFile(`one\n${'x'.repeat(3_000_000)}\ntwo\n`)
    expect(scanBackward(fd, size(), wide).lines).toEqual([
      [3_000_005, 'two'],
      [0, 'one'],
    ])
  })

  test('a backward scan reads no more than its limit', () => {
    const { fd, size } = openTemporaryFile(`one\n${'x'.repeat(3_000_000)}\n`)
    expect(scanBackward(fd, size(), { longestLine: 1000, most: 100_000 })).toEqual({ lines: [], end: 3_000_005 })
  })

  test('a backward scan of a file without a line end visits nothing', () => {
    const { fd, size } = openTemporaryFile('x'.repeat(200_000))
    expect(scanBackward(fd, size(), wide)).toEqual({ lines: [], end: null })
  })

  test('a backward scan of an empty file visits nothing', () => {
    const { fd } = openTemporaryFile('')
    expect(scanBackward(fd, 0, wide)).toEqual({ lines: [], end: null })
  })
})
