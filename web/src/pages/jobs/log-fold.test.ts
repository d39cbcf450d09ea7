import { expect, it } from 'vitest'
import { addPart, CHUNK, type LogLine, type LogState, leftOut, MOST, NOTHING_READ } from './log-fold.js'

const lines = (from: number, many: number): LogLine[] =>
  Array.from({ length: many }, (_, at) => ({ at: null, kind: 'agent', ok: true, text: String(from + at) }))
const read = (state: LogState, from: number, many: number): LogState =>
  addPart(state, { lines: lines(from, many), next: `${from + many}`, more: false })
const texts = ({ chunks }: LogState): string[] => chunks.flatMap((chunk) => chunk.lines.map(({ text }) => text))

it('parts of a log follow each other, however they are cut', () => {
  let state = NOTHING_READ
  for (const many of [1, CHUNK - 1, 3, CHUNK * 2, 0, 1]) state = read(state, state.count, many)
  expect(texts(state)).toEqual(lines(0, state.count).map(({ text }) => text))
  expect(state.chunks.every((chunk, place) => chunk.first === place * CHUNK)).toBe(true)
  expect(state.next).toBe(String(state.count))
})

it('only the end of a log is drawn again when it grows', () => {
  const before = read(NOTHING_READ, 0, CHUNK * 3 + 5)
  const after = read(before, before.count, 1)
  expect(after.chunks.map((chunk, place) => chunk === before.chunks[place])).toEqual([true, true, true, false])
})

it('nothing new changes no chunk', () => {
  const before = read(NOTHING_READ, 0, 5)
  expect(addPart(before, { lines: [], next: 'x', more: false })).toMatchObject({ next: 'x', more: false })
  expect(addPart(before, { lines: [], next: 'x', more: false }).chunks).toBe(before.chunks)
})

it('the oldest lines of a long log are left out, and counted', () => {
  const state = read(read(NOTHING_READ, 0, MOST), MOST, CHUNK * 2 + 1)
  expect(leftOut(state)).toBe(CHUNK * 3)
  expect(texts(state)[0]).toBe(String(CHUNK * 3))
  expect(texts(state).at(-1)).toBe(String(MOST + CHUNK * 2))
})
