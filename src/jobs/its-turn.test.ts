import { describe, expect, test } from 'vitest'
import type { JobRecord, JobState } from '../contract/records/job.js'
import { aJob } from '../testing/sample-job.js'
import { isItsTurn } from './its-turn.js'

const runner = { pid: 1, startedAt: 'x' }
const job = (jobId: string, state: JobState, minute: number, agentName: string | null = null): JobRecord =>
  aJob({ jobId, state, runner, createdAt: `2026-11-16T04:0${minute}:00.000Z`, spec: { ...aJob().spec, agentName } })
const whose = (open: JobRecord[], limits = { jobs: 2, perAgent: null as number | null }) =>
  open
    .filter(({ state, jobId }) => state === 'pending' && isItsTurn(open, jobId, limits, () => true))
    .map(({ jobId }) => jobId)

describe('whose turn it is', () => {
  test('as many run as may, the oldest first', () => {
    const open = [job('c', 'pending', 3), job('a', 'running', 1), job('b', 'pending', 2)]
    expect(whose(open)).toEqual(['b'])
    expect(whose([job('a', 'waiting', 1), job('b', 'handing-off', 2), job('c', 'pending', 3)])).toEqual([])
    expect(whose([job('b', 'pending', 2), job('c', 'pending', 2), job('d', 'pending', 2)])).toEqual(['b', 'c'])
  })

  test('paused jobs and those whose runner is gone take no place', () => {
    const open = [
      job('a', 'paused', 1),
      { ...job('b', 'running', 1), runner: null },
      job('c', 'running', 1),
      job('d', 'pending', 2),
    ]
    expect(whose(open)).toEqual(['d'])
    expect(
      isItsTurn(
        [job('a', 'running', 1), job('b', 'running', 1), job('c', 'pending', 2)],
        'c',
        { jobs: 1, perAgent: null },
        () => false,
      ),
    ).toBe(true)
  })

  test('a job that another one began from within does not wait for that one', () => {
    const outer = { ...job('a', 'running', 1), seatId: 'seat_outer' }
    const inner = { ...job('b', 'pending', 2), parentSeatId: 'seat_outer' }
    expect(whose([outer, inner, job('c', 'pending', 3)], { jobs: 1, perAgent: null })).toEqual(['b'])
  })

  test('one agent’s own bound does not hold up the others', () => {
    const open = [job('a', 'running', 1, 'coder'), job('b', 'pending', 2, 'coder'), job('c', 'pending', 3, 'writer')]
    expect(whose(open, { jobs: 4, perAgent: 1 })).toEqual(['c'])
    expect(whose(open, { jobs: 2, perAgent: 1 })).toEqual(['c'])
    expect(whose(open, { jobs: 4, perAgent: 2 })).toEqual(['b', 'c'])
  })
})
