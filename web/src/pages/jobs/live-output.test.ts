import { describe, expect, test } from 'vitest'
import type { JobLogPart } from '../../../../src/contract/api/jobs.js'
import {
  appendLog,
  countDropped,
  EMPTY_LOG,
  LINES_PER_CHUNK,
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

test('lines of a log stay in order, however its parts are cut', () => {
  let state = EMPTY_LOG
  for (const many of [1, LINES_PER_CHUNK - 1, 3, LINES_PER_CHUNK * 2, 0, 1]) state = read(state, state.count, many)
  expect(texts(state)).toEqual(lines(0, state.count).map(({ text }) => text))
  expect(state.chunks.every((chunk, place) => chunk.first === place * LINES_PER_CHUNK)).toBe(true)
  expect(state.next).toBe(String(state.count))
})

test('only the last chunk of a growing log is drawn again', () => {
  const before = read(EMPTY_LOG, 0, LINES_PER_CHUNK * 3 + 5)
  const after = read(before, before.count, 1)
  expect(after.chunks.map((chunk, place) => chunk === before.chunks[place])).toEqual([true, true, true, false])
})

test('a part without lines changes no chunk of the log', () => {
  const before = read(EMPTY_LOG, 0, 5)
  expect(appendLog(before, { lines: [], next: 'x', more: false })).toMatchObject({ next: 'x', more: false })
  expect(appendLog(before, { lines: [], next: 'x', more: false }).chunks).toBe(before.chunks)
})

test('the oldest lines of a long log are dropped and counted', () => {
  const state = read(read(EMPTY_LOG, 0, MAX_LINES), MAX_LINES, LINES_PER_CHUNK * 2 + 1)
  expect(countDropped(state)).toBe(LINES_PER_CHUNK * 3)
  expect(texts(state)[0]).toBe(String(LINES_PER_CHUNK * 3))
  expect(texts(state).at(-1)).toBe(String(MAX_LINES + LINES_PER_CHUNK * 2))
})

/** Starts a reader whose requests wait until the test answers them. */
function startReader() {
  const requests: { after: string | null; answer(part: JobLogPart): void; refuse(error: Error): void }[] = []
  const received: { lines: number; read: boolean }[] = []
  const failures: unknown[] = []
  let log: LogState | undefined
  const source = {
    fetchPart: (after: string | null) =>
      new Promise<JobLogPart>((resolve, reject) => {
        requests.push({ after, answer: resolve, refuse: reject })
      }),
    onPart(next: LogState, read: boolean) {
      log = next
      received.push({ lines: next.count, read })
    },
    onFailure: (error: unknown) => void failures.push(error),
  }
  const settle = () => new Promise((resolve) => setTimeout(resolve, 0))
  const answer = async (part: JobLogPart) => {
    requests.at(-1)!.answer(part)
    await settle()
  }
  return { reader: makeLogReader(source), source, requests, received, failures, answer, settle, log: () => log! }
}
const line = { at: null, kind: 'agent', text: 'Hello.', ok: true } as never
const part = (lines: number, next: string, more = false): JobLogPart => ({ lines: Array(lines).fill(line), next, more })

describe('reading a log', () => {
  test('a log is read part by part to its end, and later from there on', async () => {
    const { reader, requests, received, answer } = startReader()
    reader.readOn()
    await answer(part(3, 'a', true))
    await answer(part(2, 'b'))
    expect(received).toEqual([
      { lines: 3, read: false },
      { lines: 5, read: true },
    ])
    reader.readOn()
    await answer(part(1, 'c'))
    expect(requests.map(({ after }) => after)).toEqual([null, 'a', 'b'])
    expect(received.at(-1)).toEqual({ lines: 6, read: true })
  })

  test('repeated requests during a slow part are coalesced into one more read after it', async () => {
    const { reader, requests, received, answer } = startReader()
    for (let second = 0; second < 5; second++) reader.readOn()
    expect(requests).toHaveLength(1)
    await answer(part(2, 'a'))
    expect(received).toEqual([{ lines: 2, read: true }])
    reader.readOn()
    expect(requests.map(({ after }) => after)).toEqual([null, 'a'])
    await answer(part(1, 'b'))
    reader.readOn()
    reader.readOn()
    await answer(part(0, 'b'))
    await answer(part(0, 'b'))
    expect(requests.map(({ after }) => after)).toEqual([null, 'a', 'b', 'b'])
  })

  test('reading resumes after a failure, and in a new reader, where it stopped', async () => {
    const { reader, source, requests, received, failures, answer, settle, log } = startReader()
    reader.readOn()
    await answer(part(2, 'a', true))
    requests.at(-1)!.refuse(new Error('away'))
    await settle()
    expect(failures).toHaveLength(1)
    reader.readOn()
    expect(requests.at(-1)!.after).toBe('a')
    reader.stop()
    await answer(part(9, 'b'))
    expect(received).toHaveLength(1)
    makeLogReader(source, log()).readOn()
    expect(requests.at(-1)!.after).toBe('a')
  })
})
