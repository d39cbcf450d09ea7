import { describe, expect, test } from 'vitest'
import { MOST_ROWS, makeRows, ROW_MS, type RowChange } from './rows.js'
import { makeReviews } from './view.js'

const toldOf = ({ id, text }: RowChange): string => text ?? `${id} is gone`
const started = (now: Record<string, string | null>) => {
  const looked: string[] = []
  const complaints: unknown[] = []
  const rows = makeRows(
    Object.entries(now).map(([id, words]) => [id, words!]),
    (id) => {
      looked.push(id)
      const words = now[id]
      if (words === 'broken') throw new Error(id)
      return words ?? null
    },
    (error) => void complaints.push(error),
  )
  return { rows, looked, complaints, told: (at: number) => rows.due(at).map(toldOf) }
}

describe('rows', () => {
  test('are told when they changed, once, and looked at only when something touched them', () => {
    const now: Record<string, string> = { a: 'a1', b: 'b1' }
    const { rows, looked, told } = started(now)
    expect(told(0)).toEqual([])
    expect(looked).toEqual([])
    now.a = 'a2'
    expect(told(0)).toEqual([])
    rows.touch('a')
    rows.touch('b')
    expect(told(0)).toEqual(['a2'])
    expect(told(5_000)).toEqual([])
  })

  test('one that cannot be looked at keeps none of the others back, and is looked at again', () => {
    const now: Record<string, string> = { a: 'a1', b: 'b1', c: 'c1' }
    const { rows, told, complaints } = started(now)
    Object.assign(now, { a: 'a2', b: 'broken', c: 'c2' })
    for (const id of ['a', 'b', 'c']) rows.touch(id)
    expect(told(0)).toEqual(['a2', 'c2'])
    expect(complaints).toHaveLength(1)
    expect(rows.all()).toEqual(['a2', 'b1', 'c2'])
    now.b = 'b2'
    expect(told(ROW_MS - 1)).toEqual([])
    expect(told(ROW_MS)).toEqual(['b2'])
  })

  test('not more often than once a second, and then the newest', () => {
    const now: Record<string, string> = { a: 'a1' }
    const { rows, told } = started(now)
    now.a = 'a2'
    rows.touch('a')
    expect(told(0)).toEqual(['a2'])
    now.a = 'a3'
    rows.touch('a')
    expect(told(500)).toEqual([])
    now.a = 'a4'
    expect(told(ROW_MS)).toEqual(['a4'])
  })

  test('that are new are told at once, those no longer shown are gone, once', () => {
    const now: Record<string, string | null> = { a: 'a1' }
    const { rows, told } = started(now)
    now.b = 'b1'
    rows.touch('b')
    rows.touch('nobody')
    expect(told(0)).toEqual(['b1'])
    now.a = null
    rows.touch('a')
    expect(told(2_000)).toEqual(['a is gone'])
    expect(told(4_000)).toEqual([])
    expect(rows.all()).toEqual(['b1'])
    now.a = 'a2'
    rows.touch('a')
    expect(told(6_000)).toEqual(['a2'])
  })

  test('that go while somebody comes are told to the others as gone, and what comes back stands behind that', () => {
    const now: Record<string, string | null> = { a: 'a1', b: 'b1' }
    const { rows, told } = started(now)
    Object.assign(now, { a: null, b: null })
    rows.touch('a')
    rows.touch('b')
    expect(rows.all()).toEqual([])
    now.b = 'b2'
    rows.touch('b')
    expect(told(0)).toEqual(['a is gone', 'b is gone', 'b2'])
  })

  test('whoever comes gets the newest; the others are still told', () => {
    const now: Record<string, string> = { a: 'a1' }
    const { rows, told } = started(now)
    now.a = 'a2'
    rows.touch('a')
    told(0)
    now.a = 'a3'
    rows.touch('a')
    expect(rows.all()).toEqual(['a3'])
    expect(told(ROW_MS)).toEqual(['a3'])
  })

  test('are each looked at in turn, also those that come and go', () => {
    const now: Record<string, string | null> = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`r${n}`, 'x']))
    const { rows, looked } = started(now)
    for (let i = 0; i < 5; i++) {
      rows.touchSome(5)
      rows.due(i * 2_000)
    }
    expect(looked.toSorted()).toEqual(Object.keys(now).toSorted())
    started({}).rows.touchSome(5)
  })

  test('take turns where many change at once', () => {
    const now: Record<string, string> = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`r${n}`, 'x']))
    const { rows, told } = started(now)
    const seen: string[] = []
    for (let at = 0; at < 300; at += 100) {
      for (const id of Object.keys(now)) {
        now[id] = `${id} at ${at}`
        rows.touch(id)
      }
      const some = told(at)
      expect(some.length).toBeLessThanOrEqual(MOST_ROWS)
      seen.push(...some)
    }
    expect(new Set(seen.map((words) => words.split(' ')[0])).size).toBe(60)
  })
})

test('a brief that waits for a review is told when it comes, changes and leaves', () => {
  const all: Record<string, string | undefined> = { a: 'a1' }
  let waiting = ['a']
  const reviews = makeReviews(
    () => waiting.map((id) => [id, all[id]!] as const),
    (id) => all[id] ?? null,
  )
  const told = () => reviews.due().map(toldOf)
  expect(told()).toEqual([])
  all.b = 'b1'
  waiting = ['a', 'b']
  expect(told()).toEqual(['b1'])
  all.a = 'approved'
  waiting = ['b']
  expect(told()).toEqual(['approved'])
  expect(told()).toEqual([])
  expect(reviews.all()).toEqual(['b1'])
  all.b = undefined
  waiting = []
  expect(told()).toEqual(['b is gone'])
  expect(told()).toEqual([])
})
