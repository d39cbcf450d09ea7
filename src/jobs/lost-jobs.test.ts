import { expect, test } from 'vitest'
import type { JobRecord } from '../contract/records/job.js'
import { aJob } from '../testing/sample-job.js'
import { lostJobs } from './find-job.js'

const [here, gone] = [
  { pid: 1, startedAt: 'a' },
  { pid: 2, startedAt: 'b' },
]
const look = (...jobs: Partial<JobRecord>[]) => {
  const open = jobs.map((job, at) => aJob({ jobId: String(at), ...job }))
  const { cutOff, unwanted, unsaid } = lostJobs({ openJobs: () => open }, ({ pid }) => pid === here.pid)
  const ids = (found: JobRecord[]) => found.map(({ jobId }) => jobId)
  return { cutOff: ids(cutOff), unwanted: ids(unwanted), unsaid: ids(unsaid) }
}

test('a job is lost when its runner died, or when it never had one', () => {
  const states = ['running', 'handing-off', 'waiting', 'pending'] as const
  expect(look(...states.map((state) => ({ state, runner: gone }))).cutOff).toEqual(['0', '1', '2', '3'])
  expect(look({ state: 'pending', runner: null }, { state: 'running', runner: here }).cutOff).toEqual(['0'])
})

test('a job that the user paused or wanted to stop does not resume by itself', () => {
  expect(look({ state: 'paused', runner: null })).toEqual({ cutOff: [], unwanted: [], unsaid: [] })
  expect(
    look({ wanted: 'pause', runner: gone }, { wanted: 'cancel', runner: gone }, { wanted: 'cancel', runner: here }),
  ).toEqual({
    cutOff: [],
    unwanted: ['0', '1'],
    unsaid: [],
  })
})

test('a job whose runner had to exit resumes, whether it was paused yet or not', () => {
  expect(look({ wanted: 'leave', state: 'paused', runner: null }, { wanted: 'leave', runner: gone }).cutOff).toEqual([
    '0',
    '1',
  ])
})

test('an ended job is found until its end hooks have run', () => {
  const hooksDue = { kept: true, pullRequest: null }
  const ended = { state: 'completed', hooksDue } as const
  expect(look({ ...ended, runner: gone }, { ...ended, runner: here }, { state: 'failed', runner: null })).toEqual({
    cutOff: [],
    unwanted: [],
    unsaid: ['0'],
  })
})
