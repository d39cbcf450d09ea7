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

const sessionWithSpend = (answers: number, output: number, costUsd: number | null) =>
  sampleSession('s1', {
    model: 'opus',
    spend: { input: answers, cacheCreation: 0, cacheRead: 0, output, answers },
    costUsd,
  })

test('the difference to the last record is booked, and an unchanged record books nothing', () => {
  bookSpend(store, null, sessionWithSpend(2, 100, 0.5), AT)
  bookSpend(store, sessionWithSpend(2, 100, 0.5), sessionWithSpend(3, 130, 0.75), AT)
  bookSpend(store, sessionWithSpend(3, 130, 0.75), sessionWithSpend(3, 130, 0.75), AT)
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

test('an unreported cost is booked as null, not as zero', () => {
  bookSpend(store, sessionWithSpend(1, 10, null), sessionWithSpend(2, 20, null), AT)
  expect(booked).toMatchObject([{ costUsd: null }])
})

test('a cost total restarted by a new process counts in full, and a late older total counts as zero', () => {
  bookSpend(store, sessionWithSpend(5, 50, 3), sessionWithSpend(6, 60, 0.1), AT)
  bookSpend(store, sessionWithSpend(6, 60, 3), sessionWithSpend(7, 70, 2.9), AT)
  expect(booked.map(({ costUsd }) => costUsd)).toEqual([0.1, 0])
})
