import { describe, expect, test } from 'vitest'
import { MAX_ROWS_PER_TICK, MIN_ROW_INTERVAL_MS, makeRowTracker, type RowChange } from './rows.js'
import { trackReviews } from './view.js'

const changeText = ({ id, text }: RowChange): string => text ?? `${id} is gone`
const startRows = (now: Record<string, string | null>) => {
  const reads: string[] = []
  const complaints: unknown[] = []
  const rows = makeRowTracker(
    Object.entries(now).map(([id, text]) => [id, text!]),
    (id) => {
      reads.push(id)
      const text = now[id]
      if (text === 'broken') throw new Error(id)
      return text ?? null
    },
    (error) => void complaints.push(error),
  )
  return { rows, reads, complaints, dueTexts: (at: number) => rows.due(at).map(changeText) }
}

describe('rows of the stream', () => {
  test('a changed row is sent once, and rows are read only after they were touched', () => {
    const now: Record<string, string> = { a: 'a1', b: 'b1' }
    const { rows, reads, dueTexts } = startRows(now)
    expect(dueTexts(0)).toEqual([])
    expect(reads).toEqual([])
    now.a = 'a2'
    expect(dueTexts(0)).toEqual([])
    rows.touch('a')
    rows.touch('b')
    expect(dueTexts(0)).toEqual(['a2'])
    expect(dueTexts(5_000)).toEqual([])
  })

  test('a row that cannot be read is read again later and does not hold back others', () => {
    const now: Record<string, string> = { a: 'a1', b: 'b1', c: 'c1' }
    const { rows, dueTexts, complaints } = startRows(now)
    Object.assign(now, { a: 'a2', b: 'broken', c: 'c2' })
    for (const id of ['a', 'b', 'c']) rows.touch(id)
    expect(dueTexts(0)).toEqual(['a2', 'c2'])
    expect(complaints).toHaveLength(1)
    expect(rows.all()).toEqual(['a2', 'b1', 'c2'])
    now.b = 'b2'
    expect(dueTexts(MIN_ROW_INTERVAL_MS - 1)).toEqual([])
    expect(dueTexts(MIN_ROW_INTERVAL_MS)).toEqual(['b2'])
  })

  test('a row is sent at most once a second, and then in its newest state', () => {
    const now: Record<string, string> = { a: 'a1' }
    const { rows, dueTexts } = startRows(now)
    now.a = 'a2'
    rows.touch('a')
    expect(dueTexts(0)).toEqual(['a2'])
    now.a = 'a3'
    rows.touch('a')
    expect(dueTexts(500)).toEqual([])
    now.a = 'a4'
    expect(dueTexts(MIN_ROW_INTERVAL_MS)).toEqual(['a4'])
  })

  test('a new row is sent at once, and a row no longer listed is reported as gone once', () => {
    const now: Record<string, string | null> = { a: 'a1' }
    const { rows, dueTexts } = startRows(now)
    now.b = 'b1'
    rows.touch('b')
    rows.touch('nobody')
    expect(dueTexts(0)).toEqual(['b1'])
    now.a = null
    rows.touch('a')
    expect(dueTexts(2_000)).toEqual(['a is gone'])
    expect(dueTexts(4_000)).toEqual([])
    expect(rows.all()).toEqual(['b1'])
    now.a = 'a2'
    rows.touch('a')
    expect(dueTexts(6_000)).toEqual(['a2'])
  })

  test('a row removed while a client joins is reported as gone before it comes back', () => {
    const now: Record<string, string | null> = { a: 'a1', b: 'b1' }
    const { rows, dueTexts } = startRows(now)
    Object.assign(now, { a: null, b: null })
    rows.touch('a')
    rows.touch('b')
    expect(rows.all()).toEqual([])
    now.b = 'b2'
    rows.touch('b')
    expect(dueTexts(0)).toEqual(['a is gone', 'b is gone', 'b2'])
  })

  test('a new client gets the newest rows, and other clients still get the change', () => {
    const now: Record<string, string> = { a: 'a1' }
    const { rows, dueTexts } = startRows(now)
    now.a = 'a2'
    rows.touch('a')
    dueTexts(0)
    now.a = 'a3'
    rows.touch('a')
    expect(rows.all()).toEqual(['a3'])
    expect(dueTexts(MIN_ROW_INTERVAL_MS)).toEqual(['a3'])
  })

  test('every row is read in turn, even while rows come and go', () => {
    const now: Record<string, string | null> = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`r${n}`, 'x']))
    const { rows, reads } = startRows(now)
    for (let i = 0; i < 5; i++) {
      rows.touchSome(5)
      rows.due(i * 2_000)
    }
    expect(reads.toSorted()).toEqual(Object.keys(now).toSorted())
    startRows({}).rows.touchSome(5)
  })

  test('rows take turns when many change at once', () => {
    const now: Record<string, string> = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`r${n}`, 'x']))
    const { rows, dueTexts } = startRows(now)
    const seen: string[] = []
    for (let at = 0; at < 300; at += 100) {
      for (const id of Object.keys(now)) {
        now[id] = `${id} at ${at}`
        rows.touch(id)
      }
      const some = dueTexts(at)
      expect(some.length).toBeLessThanOrEqual(MAX_ROWS_PER_TICK)
      seen.push(...some)
    }
    expect(new Set(seen.map((text) => text.split(' ')[0])).size).toBe(60)
  })
})

test('a brief under review is sent when it is added, changed and removed', () => {
  const all: Record<string, string | undefined> = { a: 'a1' }
  let waiting = ['a']
  const reviews = trackReviews(
    () => waiting.map((id) => [id, all[id]!] as const),
    (id) => all[id] ?? null,
  )
  const dueTexts = () => reviews.due().map(changeText)
  expect(dueTexts()).toEqual([])
  all.b = 'b1'
  waiting = ['a', 'b']
  expect(dueTexts()).toEqual(['b1'])
  all.a = 'approved'
  waiting = ['b']
  expect(dueTexts()).toEqual(['approved'])
  expect(dueTexts()).toEqual([])
  expect(reviews.all()).toEqual(['b1'])
  all.b = undefined
  waiting = []
  expect(dueTexts()).toEqual(['b is gone'])
  expect(dueTexts()).toEqual([])
})
