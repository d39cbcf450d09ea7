import { expect, test } from 'vitest'
import { lineSplitter } from './line-splitter.js'

const split = (...pieces: (string | Buffer)[]): string[] => {
  const lines: string[] = []
  const take = lineSplitter((line) => lines.push(line))
  for (const piece of pieces) take(Buffer.from(piece))
  take()
  return lines
}

test('the line splitter emits complete lines, however the input was split', () => {
  expect(split('{"a":', '1}\n{"b"', ':2}\n\n{"c":3}')).toEqual(['{"a":1}', '{"b":2}', '{"c":3}'])
})

test('the line splitter joins a character that was split between two pieces', () => {
  const bytes = Buffer.from('“späť” 🚢\n')
  for (let cut = 1; cut < bytes.length; cut++)
    expect(split(bytes.subarray(0, cut), bytes.subarray(cut))).toEqual(['“späť” 🚢'])
})

test('the line splitter joins a line of 5,000 pieces', () => {
  const piece = 'x'.repeat(1000)
  expect(split(...Array<string>(5000).fill(piece), '\n')[0]).toHaveLength(5_000_000)
})
