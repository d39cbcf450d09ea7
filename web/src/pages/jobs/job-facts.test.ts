import { describe, expect, test } from 'vitest'
import { makeJobRow } from '../../testing/live-rows.js'
import {
  budgetsOf,
  isLost,
  type JobCheck,
  jobMatches,
  mayCancel,
  mayResume,
  roundsOf,
  sortJobs,
  taskOf,
} from './job-facts.js'

const now = Date.parse('2026-11-16T10:00:00.000Z')
const gone = { pid: 7, alive: false }

describe('facts of a job', () => {
  test('a running or waiting job without a live runner counts as lost', () => {
    expect(isLost(makeJobRow(), now)).toBe(false)
    expect(isLost(makeJobRow({ runner: gone }), now)).toBe(true)
    expect(isLost(makeJobRow({ status: 'waiting', runner: null }), now)).toBe(true)
    expect(isLost(makeJobRow({ status: 'paused', runner: gone }), now)).toBe(false)
    expect(isLost(makeJobRow({ status: 'completed', runner: gone }), now)).toBe(false)
  })

  test('a pending job counts as lost only ten seconds after it was created', () => {
    const pending = makeJobRow({ status: 'pending', runner: null, created_at: '2026-11-16T09:59:55.000Z' })
    expect([isLost(pending, now), isLost(pending, now + 6_000)]).toEqual([false, true])
  })

  test('a paused, failed or lost job can be resumed, and any job can be cancelled until it ends', () => {
    const may = (status: Parameters<typeof makeJobRow>[0] & object) => [
      mayResume(makeJobRow(status), now),
      mayCancel(makeJobRow(status)),
    ]
    expect(may({ status: 'running' })).toEqual([false, true])
    expect(may({ status: 'running', runner: gone })).toEqual([true, true])
    expect(may({ status: 'paused', runner: null })).toEqual([true, true])
    expect(may({ status: 'failed', runner: null })).toEqual([true, false])
    expect(may({ status: 'cancelled', runner: null })).toEqual([false, false])
    expect(may({ status: 'completed', runner: null })).toEqual([false, false])
  })

  test('a job is named by its work item, else the first line of its prompt, else its agent', () => {
    expect(taskOf(makeJobRow({ work_item: 'LIN-42' }))).toBe('LIN-42')
    expect(taskOf(makeJobRow({ prompt: '\n  Make it so.\nNow.' }))).toBe('Make it so.')
    expect(taskOf(makeJobRow({ prompt: '' }))).toBe('coder')
    expect(taskOf(makeJobRow({ prompt: ' ', agent: null }))).toBeNull()
  })

  test('a job is found when it contains all the searched words', () => {
    expect(jobMatches(makeJobRow(), 'TESTS coder')).toBe(true)
    expect(jobMatches(makeJobRow(), 'tests reviewer')).toBe(false)
  })

  test('the budgets of a job show what its sessions used', () => {
    const job = { ...makeJobRow(), budgets: { usd: 5, tokens: null, turns: 100, minutes: 60 }, files: '/x' }
    expect(budgetsOf(job).map(({ id, used, allowed }) => [id, used, allowed])).toEqual([
      ['usd', 0.42, 5],
      ['tokens', 433_000, null],
      ['turns', 24, 100],
      ['minutes', 40, 60],
      ['handoffs', 1, 3],
    ])
  })
})

test('open jobs are listed before ended ones, newest first', () => {
  const at = (job_id: string, status: 'running' | 'failed', hour: number) =>
    makeJobRow({ job_id, status, created_at: `2026-11-16T0${hour}:00:00.000Z` })
  const jobs = [at('a', 'failed', 9), at('b', 'running', 1), at('c', 'running', 2), at('d', 'failed', 8)]
  expect(sortJobs(jobs).map(({ job_id }) => job_id)).toEqual(['c', 'b', 'a', 'd'])
})

test('checks are grouped by round, newest first', () => {
  const check = (round: number, ok: boolean): JobCheck => ({
    name: 'npm test',
    command: 'npm test',
    round,
    ok,
    exit_code: ok ? 0 : 1,
    timed_out: false,
    duration_ms: 10,
    output_path: '',
  })
  expect(
    roundsOf([check(1, false), check(1, true), check(2, true)]).map(({ round, failed, checks }) => [
      round,
      failed,
      checks.length,
    ]),
  ).toEqual([
    [2, 0, 1],
    [1, 1, 2],
  ])
})
