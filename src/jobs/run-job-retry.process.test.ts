import { expect, test } from 'vitest'
import { scriptedJob, store, useJobStore } from '../testing/scripted-job.js'
import { viewJob } from './view-job.js'

useJobStore()

test('a retry of the client is reported with reason, attempt and time until an answer comes', async () => {
  const shown: unknown[] = []
  const { run, jobId } = scriptedJob(
    { sessions: [[{ retries: [null, 529], text: 'Done.' }]] },
    {},
    {
      publish: (events) => {
        if (events.some(({ data }) => data.waiting)) shown.push(viewJob(store.job(jobId)!, []).retry)
      },
    },
  )
  expect(await run()).toMatchObject({ state: 'completed', retry: null })
  expect(shown).toEqual([
    { reason: 'the API is not reachable', attempt: 1, max_attempts: 2, at: expect.any(String) },
    { reason: 'the API answered 529, scripted', attempt: 2, max_attempts: 2, at: expect.any(String) },
  ])
  const told = store.events({ limit: 500 }).filter(({ data }) => data.waiting)
  expect(told.map(({ data }) => [data.waiting, data.attempt, data.max_attempts])).toEqual([
    ['the API is not reachable', 1, 2],
    ['the API answered 529, scripted', 2, 2],
  ])
})

test('a session reopened after a failure is reported as a retry with its attempt and time', async () => {
  const dies = { text: '', dies: { at: 'request' as const, signal: 'SIGKILL' } }
  const waiting: unknown[] = []
  const { run, jobId } = scriptedJob(
    { sessions: [[{ calls: [{ input: 'step 1' }], used: 20_000 }, dies], [{ text: 'Done.' }]] },
    {},
    {
      publish: (events) => {
        if (events.some(({ type }) => type === 'job_waiting')) waiting.push(viewJob(store.job(jobId)!, []).retry)
      },
    },
  )
  expect(await run()).toMatchObject({ state: 'completed', retry: null })
  expect(waiting).toEqual([
    { reason: 'the client was ended by SIGKILL', attempt: 2, max_attempts: 5, at: expect.any(String) },
  ])
})
