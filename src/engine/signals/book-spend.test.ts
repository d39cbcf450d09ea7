import { beforeEach, expect, test } from 'vitest'
import type { SpendIncrement } from '../../contract/records/spend.js'
import { sampleSession } from '../../store/samples.cases.js'
import type { Store } from '../../store/store.js'
import { bookSpend } from './measure.js'

const AT = '2026-03-01T10:00:00.000Z'
let booked: SpendIncrement[] = []
const store = { addSpend: (spent: SpendIncrement) => void booked.push(spent) } as unknown as Store
beforeEach(() => {
  booked = []
})

const of = (answers: number, output: number, costUsd: number | null) =>
  sampleSession('s1', {
    model: 'opus',
    spend: { input: answers, cacheCreation: 0, cacheRead: 0, output, answers },
    costUsd,
  })

test('books what was spent since, and nothing where nothing was', () => {
  bookSpend(store, null, of(2, 100, 0.5), AT)
  bookSpend(store, of(2, 100, 0.5), of(3, 130, 0.75), AT)
  bookSpend(store, of(3, 130, 0.75), of(3, 130, 0.75), AT)
  expect(booked).toEqual([
    {
      sessionId: 's1',
      at: AT,
      model: 'opus',
      steps: 2,
      input: 2,
      output: 100,
      cacheCreation: 0,
      cacheRead: 0,
      costUsd: 0.5,
    },
    {
      sessionId: 's1',
      at: AT,
      model: 'opus',
      steps: 1,
      input: 1,
      output: 30,
      cacheCreation: 0,
      cacheRead: 0,
      costUsd: 0.25,
    },
  ])
})

test('a cost that nobody tells is not nothing', () => {
  bookSpend(store, of(1, 10, null), of(2, 20, null), AT)
  expect(booked).toMatchObject([{ costUsd: null }])
})

test('a running total that began anew in another process counts from there; an old figure that comes late does not count again', () => {
  bookSpend(store, of(5, 50, 3), of(6, 60, 0.1), AT)
  bookSpend(store, of(6, 60, 3), of(7, 70, 2.9), AT)
  expect(booked.map(({ costUsd }) => costUsd)).toEqual([0.1, 0])
})
