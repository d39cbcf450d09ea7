import { expect, onTestFinished, test } from 'vitest'
import { testApp, testSession } from '../testing/engine-session.js'
import { anAttempt } from '../testing/sample-job.js'
import { attemptsToShow } from './view-job.js'

test('within a turn a job shows the cost of its session’s last answer, without an earlier job’s part', () => {
  const app = testApp()
  onTestFinished(() => app.remove())
  const s = testSession(app, 'aaaaaaaa-0001')
  s.start()
  app.store.putSession({ ...app.store.session(s.id)!, costUsd: 0.5 })
  const spend = { input: 1, output: 1, cacheCreation: 0, cacheRead: 0 }
  const cost = (change: Partial<ReturnType<typeof anAttempt>>) => {
    app.store.putAttempt(anAttempt({ sessionId: s.id, ...change }))
    return attemptsToShow(app.store, 'job_1')[0]!.costUsd
  }
  expect(cost({})).toBe(0.5)
  expect(cost({ carried: { spend, costUsd: 0.125 } })).toBe(0.375)
  expect(cost({ costUsd: 0.75 })).toBe(0.75)
  expect(cost({ costUsd: 0.25, endedAt: '2026-11-16T05:00:00.000Z' })).toBe(0.25)
  expect(cost({ sessionId: 'unknown' })).toBeNull()
})
