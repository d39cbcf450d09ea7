import { appendFileSync, closeSync, openSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { tempDir } from '../../test/harness/temp-dir.js'
import { scanLines, scanLinesBackwards } from './json-lines.js'

const LONGEST = { longestLine: 1000 }

function file(text: string): { fd: number; size: () => number; append: (more: string) => void } {
  const at = path.join(tempDir(), 'lines.jsonl')
  writeFileSync(at, text)
  const fd = openSync(at, 'r')
  onTestFinished(() => closeSync(fd))
  return { fd, size: () => statSync(at).size, append: (more) => appendFileSync(at, more) }
}

function forward(fd: number, from: number, to: number, options: { longestLine: number; midLine?: boolean } = LONGEST) {
  const lines: [number, string][] = []
  const scanned = scanLines(fd, from, to, options, (buffer, start, end, at) =>
    lines.push([at, buffer.toString('utf8', start, end)]),
  )
  return { lines, ...scanned }
}

function backward(
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
  test('every whole line is visited with its offset, line ends of either kind taken off', () => {
    const { fd, size } = file('one\r\n\ntwo\nthrée\n')
    expect(forward(fd, 0, size())).toEqual({
      lines: [
        [0, 'one'],
        [6, 'two'],
        [10, 'thrée'],
      ],
      next: 17,
      midLine: false,
    })
  })

  test('an unfinished last line waits for the next scan', () => {
    const { fd, size, append } = file('one\ntw')
    const first = forward(fd, 0, size())
    expect(first).toMatchObject({ lines: [[0, 'one']], next: 4 })
    append('o\n')
    expect(forward(fd, first.next, size())).toMatchObject({ lines: [[4, 'two']], next: 8 })
  })

  test('lines on the seams of chunks come whole', () => {
    const texts = Array.from({ length: 3000 }, (_, i) => `${i} ${'x'.repeat((i * 37) % 900)}`)
    const { fd, size } = file(texts.map((text) => `${text}\n`).join(''))
    const { lines, next } = forward(fd, 0, size())
    expect(lines.map(([, line]) => line)).toEqual(texts)
    expect(next).toBe(size())
  })

  test('a line longer than allowed is passed over, the ones around it are not', () => {
    const { fd, size } = file(`one\n${'x'.repeat(700_000)}\ntwo\n`)
    expect(forward(fd, 0, size()).lines).toEqual([
      [0, 'one'],
      [700_005, 'two'],
    ])
  })

  test('an unfinished line longer than allowed is not read again, and its end is dropped when it comes', () => {
    const { fd, size, append } = file(`one\n${'x'.repeat(700_000)}`)
    const first = forward(fd, 0, size())
    expect(first).toMatchObject({ lines: [[0, 'one']], next: 700_004, midLine: true })
    append('xxx\ntwo\n')
    expect(forward(fd, first.next, size(), { ...LONGEST, midLine: true })).toMatchObject({
      lines: [[700_008, 'two']],
      midLine: false,
    })
  })

  test('a file cut off while it is read ends the scan', () => {
    const { fd } = file('one\n')
    expect(forward(fd, 0, 5000)).toMatchObject({ lines: [[0, 'one']], next: 4 })
  })
})

describe('backward', () => {
  const wide = { longestLine: 1000, most: 10_000_000 }

  test('whole lines come newest first, the unfinished one not at all', () => {
    const { fd, size } = file('one\ntwo\r\nthree\nfo')
    expect(backward(fd, size(), wide)).toEqual({
      lines: [
        [9, 'three'],
        [4, 'two'],
        [0, 'one'],
      ],
      end: 15,
    })
  })

  test('it stops where the visitor is content', () => {
    const { fd, size } = file('one\ntwo\nthree\n')
    expect(backward(fd, size(), wide, (line) => line === 'two').lines).toEqual([
      [8, 'three'],
      [4, 'two'],
    ])
  })

  test('lines on the seams of chunks come whole', () => {
    const texts = Array.from({ length: 3000 }, (_, i) => `${i} ${'x'.repeat((i * 37) % 900)}`)
    const { fd, size } = file(texts.map((text) => `${text}\n`).join(''))
    expect(backward(fd, size(), wide).lines.map(([, line]) => line)).toEqual(texts.reverse())
  })

  test('a line longer than allowed is passed over', () => {
    const { fd, size } = file(`one\n${'x'.repeat(3_000_000)}\ntwo\n`)
    expect(backward(fd, size(), wide).lines).toEqual([
      [3_000_005, 'two'],
      [0, 'one'],
    ])
  })

  test('it reads no more than it may', () => {
    const { fd, size } = file(`one\n${'x'.repeat(3_000_000)}\n`)
    expect(backward(fd, size(), { longestLine: 1000, most: 100_000 })).toEqual({ lines: [], end: 3_000_005 })
  })

  test('without any line end there is no whole line', () => {
    const { fd, size } = file('x'.repeat(200_000))
    expect(backward(fd, size(), wide)).toEqual({ lines: [], end: null })
  })

  test('an empty file has none', () => {
    const { fd } = file('')
    expect(backward(fd, 0, wide)).toEqual({ lines: [], end: null })
  })
})
