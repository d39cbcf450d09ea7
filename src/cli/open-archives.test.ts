import { expect, test } from 'vitest'
import { terminalProgress } from './open-archives.js'

function drawnBy(stream: { isTTY?: boolean }, shown: boolean, steps: [ms: number, bytes: number][]): string[] {
  const drawn: string[] = []
  let time = 0
  const progress = terminalProgress({ ...stream, write: (text) => drawn.push(text) }, shown, () => time)
  for (const [ms, bytes] of steps) {
    time += ms
    progress.add('kept', bytes)
  }
  progress.end()
  return drawn
}

test('long work shows a progress line that is erased at the end, and short work shows none', () => {
  const long: [number, number][] = [
    [10, 500_000],
    [500, 500_000],
    [10, 1],
    [200, 1_000_000],
  ]
  expect(drawnBy({ isTTY: true }, true, long)).toEqual([
    '\r\u001b[Kkept 1.0 MB …',
    '\r\u001b[Kkept 2.0 MB …',
    '\r\u001b[K',
  ])
  expect(
    drawnBy({ isTTY: true }, true, [
      [10, 9],
      [10, 9],
    ]),
  ).toEqual([])
})

test('no progress line is drawn into a pipe or with --json', () => {
  expect(
    drawnBy({}, true, [
      [900, 1],
      [900, 1],
    ]),
  ).toEqual([])
  expect(
    drawnBy({ isTTY: true }, false, [
      [900, 1],
      [900, 1],
    ]),
  ).toEqual([])
})
