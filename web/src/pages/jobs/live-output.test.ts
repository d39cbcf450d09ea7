import { describe, expect, test } from 'vitest'
import type { JobLogPart } from '../../../../src/contract/api/jobs.js'
import {
  appendLog,
  CHUNK,
  countDropped,
  EMPTY_LOG,
  type LogLine,
  type LogState,
  MAX_LINES,
  makeLogReader,
} from './live-output.js'

const lines = (from: number, many: number): LogLine[] =>
  Array.from({ length: many }, (_, at) => ({ at: null, kind: 'agent', ok: true, text: String(from + at) }))
const read = (state: LogState, from: number, many: number): LogState =>
  appendLog(state, { lines: lines(from, many), next: `${from + many}`, more: false })
const texts = ({ chunks }: LogState): string[] => chunks.flatMap((chunk) => chunk.lines.map(({ text }) => text))

test('parts of a log follow each other, however they are cut', () => {
  let state = EMPTY_LOG
  for (const many of [1, CHUNK - 1, 3, CHUNK * 2, 0, 1]) state = read(state, state.count, many)
  expect(texts(state)).toEqual(lines(0, state.count).map(({ text }) => text))
  expect(state.chunks.every((chunk, place) => chunk.first === place * CHUNK)).toBe(true)
  expect(state.next).toBe(String(state.count))
})

test('only the end of a log is drawn again when it grows', () => {
  const before = read(EMPTY_LOG, 0, CHUNK * 3 + 5)
  const after = read(before, before.count, 1)
  expect(after.chunks.map((chunk, place) => chunk === before.chunks[place])).toEqual([true, true, true, false])
})

test('nothing new changes no chunk', () => {
  const before = read(EMPTY_LOG, 0, 5)
  expect(appendLog(before, { lines: [], next: 'x', more: false })).toMatchObject({ next: 'x', more: false })
  expect(appendLog(before, { lines: [], next: 'x', more: false }).chunks).toBe(before.chunks)
})

test('the oldest lines of a long log are left out, and counted', () => {
  const state = read(read(EMPTY_LOG, 0, MAX_LINES), MAX_LINES, CHUNK * 2 + 1)
  expect(countDropped(state)).toBe(CHUNK * 3)
  expect(texts(state)[0]).toBe(String(CHUNK * 3))
  expect(texts(state).at(-1)).toBe(String(MAX_LINES + CHUNK * 2))
})

/** A server that answers when the test says so. */
function trial() {
  const asked: { after: string | null; answer(part: JobLogPart): void; refuse(error: Error): void }[] = []
  const told: { lines: number; read: boolean }[] = []
  const failures: unknown[] = []
  let log: LogState | undefined
  const reading = {
    part: (after: string | null) =>
      new Promise<JobLogPart>((resolve, reject) => {
        asked.push({ after, answer: resolve, refuse: reject })
      }),
    told(next: LogState, read: boolean) {
      log = next
      told.push({ lines: next.count, read })
    },
    failed: (error: unknown) => void failures.push(error),
  }
  const settle = () => new Promise((resolve) => setTimeout(resolve, 0))
  const answer = async (part: JobLogPart) => {
    asked.at(-1)!.answer(part)
    await settle()
  }
  return { reader: makeLogReader(reading), reading, asked, told, failures, answer, settle, log: () => log! }
}
const line = { at: null, kind: 'agent', text: 'Hello.', ok: true } as never
const part = (lines: number, next: string, more = false): JobLogPart => ({ lines: Array(lines).fill(line), next, more })

describe('reading a log', () => {
  test('goes on part by part to the end, and then behind it', async () => {
    const { reader, asked, told, answer } = trial()
    reader.readOn()
    await answer(part(3, 'a', true))
    await answer(part(2, 'b'))
    expect(told).toEqual([
      { lines: 3, read: false },
      { lines: 5, read: true },
    ])
    reader.readOn()
    await answer(part(1, 'c'))
    expect(asked.map(({ after }) => after)).toEqual([null, 'a', 'b'])
    expect(told.at(-1)).toEqual({ lines: 6, read: true })
  })

  test('waits for a part that takes long, however often it is told of more, and looks once more behind it', async () => {
    const { reader, asked, told, answer } = trial()
    for (let second = 0; second < 5; second++) reader.readOn()
    expect(asked).toHaveLength(1)
    await answer(part(2, 'a'))
    expect(told).toEqual([{ lines: 2, read: true }])
    reader.readOn()
    expect(asked.map(({ after }) => after)).toEqual([null, 'a'])
    await answer(part(1, 'b'))
    reader.readOn()
    reader.readOn()
    await answer(part(0, 'b'))
    await answer(part(0, 'b'))
    expect(asked.map(({ after }) => after)).toEqual([null, 'a', 'b', 'b'])
  })

  test('goes on after a failure where it was, and where another reader was', async () => {
    const { reader, reading, asked, told, failures, answer, settle, log } = trial()
    reader.readOn()
    await answer(part(2, 'a', true))
    asked.at(-1)!.refuse(new Error('away'))
    await settle()
    expect(failures).toHaveLength(1)
    reader.readOn()
    expect(asked.at(-1)!.after).toBe('a')
    reader.stop()
    await answer(part(9, 'b'))
    expect(told).toHaveLength(1)
    makeLogReader(reading, log()).readOn()
    expect(asked.at(-1)!.after).toBe('a')
  })
})
