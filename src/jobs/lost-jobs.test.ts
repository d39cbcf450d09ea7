import { expect, it } from 'vitest'
import type { JobRecord } from '../contract/job.js'
import { aJob } from './a-job.js'
import { lostJobs } from './lost-jobs.js'

const [here, gone] = [
  { pid: 1, startedAt: 'a' },
  { pid: 2, startedAt: 'b' },
]
const look = (...jobs: Partial<JobRecord>[]) => {
  const open = jobs.map((job, at) => aJob({ jobId: String(at), ...job }))
  const { cutOff, unwanted } = lostJobs({ openJobs: () => open }, ({ pid }) => pid === here.pid)
  return { cutOff: cutOff.map(({ jobId }) => jobId), unwanted: unwanted.map(({ jobId }) => jobId) }
}

it('a job is lost when whoever ran it is gone, or nobody ever did', () => {
  const states = ['running', 'handing-off', 'waiting', 'pending'] as const
  expect(look(...states.map((state) => ({ state, runner: gone }))).cutOff).toEqual(['0', '1', '2', '3'])
  expect(look({ state: 'pending', runner: null }, { state: 'running', runner: here }).cutOff).toEqual(['0'])
})

it('one that a person paused, or wanted to stop, does not go on by itself', () => {
  expect(look({ state: 'paused', runner: null })).toEqual({ cutOff: [], unwanted: [] })
  expect(look({ wanted: 'pause', runner: gone }, { wanted: 'cancel', runner: gone }, { wanted: 'cancel', runner: here })).toEqual(
    {
      ...{ cutOff: [], unwanted: ['0', '1'] },
    },
  )
})
