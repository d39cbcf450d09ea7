import { describe, expect, test } from 'vitest'
import type { JobRecord, JobState } from '../contract/records/job.js'
import { aJob } from '../testing/sample-job.js'
import { mayStart } from './job-start-order.js'

const runner = { pid: 1, startedAt: 'x' }
const job = (jobId: string, state: JobState, minute: number, agentName: string | null = null): JobRecord =>
  aJob({ jobId, state, runner, createdAt: `2026-11-16T04:0${minute}:00.000Z`, spec: { ...aJob().spec, agentName } })
const jobsThatMayStart = (open: JobRecord[], limits = { jobs: 2, perAgent: null as number | null }) =>
  open
    .filter(({ state, jobId }) => state === 'pending' && mayStart(open, jobId, limits, () => true))
    .map(({ jobId }) => jobId)

describe('the order in which jobs start', () => {
  test('as many jobs run as allowed, the oldest first', () => {
    const open = [job('c', 'pending', 3), job('a', 'running', 1), job('b', 'pending', 2)]
    expect(jobsThatMayStart(open)).toEqual(['b'])
    expect(jobsThatMayStart([job('a', 'waiting', 1), job('b', 'handing-off', 2), job('c', 'pending', 3)])).toEqual([])
    expect(jobsThatMayStart([job('b', 'pending', 2), job('c', 'pending', 2), job('d', 'pending', 2)])).toEqual([
      'b',
      'c',
    ])
  })

  test('paused jobs and jobs with a dead runner do not count against the limit', () => {
    const open = [
      job('a', 'paused', 1),
      { ...job('b', 'running', 1), runner: null },
      job('c', 'running', 1),
      job('d', 'pending', 2),
    ]
    expect(jobsThatMayStart(open)).toEqual(['d'])
    expect(
      mayStart(
        [job('a', 'running', 1), job('b', 'running', 1), job('c', 'pending', 2)],
        'c',
        { jobs: 1, perAgent: null },
        () => false,
      ),
    ).toBe(true)
  })

  test('a job started from within another job does not wait for that job', () => {
    const outer = { ...job('a', 'running', 1), seatId: 'seat_outer' }
    const inner = { ...job('b', 'pending', 2), parentSeatId: 'seat_outer' }
    expect(jobsThatMayStart([outer, inner, job('c', 'pending', 3)], { jobs: 1, perAgent: null })).toEqual(['b'])
  })

  test('the limit of one agent does not block jobs of other agents', () => {
    const open = [job('a', 'running', 1, 'coder'), job('b', 'pending', 2, 'coder'), job('c', 'pending', 3, 'writer')]
    expect(jobsThatMayStart(open, { jobs: 4, perAgent: 1 })).toEqual(['c'])
    expect(jobsThatMayStart(open, { jobs: 2, perAgent: 1 })).toEqual(['c'])
    expect(jobsThatMayStart(open, { jobs: 4, perAgent: 2 })).toEqual(['b', 'c'])
  })
})
