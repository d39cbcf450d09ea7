import { expect, test } from 'vitest'
import type { JobRecord } from '../contract/records/job.js'
import { aJob } from '../testing/sample-job.js'
import { findLostJobs } from './find-job.js'

const [here, gone] = [
  { pid: 1, startedAt: 'a' },
  { pid: 2, startedAt: 'b' },
]
const findLost = (...jobs: Partial<JobRecord>[]) => {
  const open = jobs.map((job, at) => aJob({ jobId: String(at), ...job }))
  const { interrupted, stopRequested, endHooksDue } = findLostJobs(
    { openJobs: () => open },
    ({ pid }) => pid === here.pid,
  )
  const ids = (found: JobRecord[]) => found.map(({ jobId }) => jobId)
  return { interrupted: ids(interrupted), stopRequested: ids(stopRequested), endHooksDue: ids(endHooksDue) }
}

test('a job is lost when its runner died, or when it never had one', () => {
  const states = ['running', 'handing-off', 'waiting', 'pending'] as const
  expect(findLost(...states.map((state) => ({ state, runner: gone }))).interrupted).toEqual(['0', '1', '2', '3'])
  expect(findLost({ state: 'pending', runner: null }, { state: 'running', runner: here }).interrupted).toEqual(['0'])
})

test('a job that the user paused or wanted to stop does not resume by itself', () => {
  expect(findLost({ state: 'paused', runner: null })).toEqual({ interrupted: [], stopRequested: [], endHooksDue: [] })
  expect(
    findLost({ wanted: 'pause', runner: gone }, { wanted: 'cancel', runner: gone }, { wanted: 'cancel', runner: here }),
  ).toEqual({
    interrupted: [],
    stopRequested: ['0', '1'],
    endHooksDue: [],
  })
})

test('a job whose runner had to exit resumes, whether it was paused yet or not', () => {
  expect(
    findLost({ wanted: 'leave', state: 'paused', runner: null }, { wanted: 'leave', runner: gone }).interrupted,
  ).toEqual(['0', '1'])
})

test('an ended job is found until its end hooks have run', () => {
  const hooksDue = { kept: true, pullRequest: null }
  const ended = { state: 'completed', hooksDue } as const
  expect(findLost({ ...ended, runner: gone }, { ...ended, runner: here }, { state: 'failed', runner: null })).toEqual({
    interrupted: [],
    stopRequested: [],
    endHooksDue: ['0'],
  })
})
