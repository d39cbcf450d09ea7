import { describe, expect, test } from 'vitest'
import { makeJobRow } from '../../testing/live-rows.js'
import {
  budgetsOf,
  type Check,
  inOrder,
  isLost,
  jobMatches,
  mayCancel,
  mayResume,
  roundsOf,
  taskOf,
} from './job-facts.js'

const now = Date.parse('2026-11-16T10:00:00.000Z')
const gone = { pid: 7, alive: false }

describe('a job', () => {
  test('has lost its runner where it says it goes on and nobody carries it', () => {
    expect(isLost(makeJobRow(), now)).toBe(false)
    expect(isLost(makeJobRow({ runner: gone }), now)).toBe(true)
    expect(isLost(makeJobRow({ status: 'waiting', runner: null }), now)).toBe(true)
    expect(isLost(makeJobRow({ status: 'paused', runner: gone }), now)).toBe(false)
    expect(isLost(makeJobRow({ status: 'completed', runner: gone }), now)).toBe(false)
  })

  test('that was only just asked for has not lost it yet', () => {
    const asked = makeJobRow({ status: 'pending', runner: null, created_at: '2026-11-16T09:59:55.000Z' })
    expect([isLost(asked, now), isLost(asked, now + 6_000)]).toEqual([false, true])
  })

  test('can be resumed when it rests, cancelled until it is over', () => {
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

  test('is called by its work item, else by the first line of its task, else by its agent', () => {
    expect(taskOf(makeJobRow({ work_item: 'LIN-42' }))).toBe('LIN-42')
    expect(taskOf(makeJobRow({ prompt: '\n  Make it so.\nNow.' }))).toBe('Make it so.')
    expect(taskOf(makeJobRow({ prompt: '' }))).toBe('coder')
    expect(taskOf(makeJobRow({ prompt: ' ', agent: null }))).toBeNull()
  })

  test('is found by all the words that are looked for', () => {
    expect(jobMatches(makeJobRow(), 'TESTS coder')).toBe(true)
    expect(jobMatches(makeJobRow(), 'tests reviewer')).toBe(false)
  })

  test('has used what its sessions used, of what it may', () => {
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

test('open jobs stand before those that are over, newest first', () => {
  const at = (job_id: string, status: 'running' | 'failed', hour: number) =>
    makeJobRow({ job_id, status, created_at: `2026-11-16T0${hour}:00:00.000Z` })
  const jobs = [at('a', 'failed', 9), at('b', 'running', 1), at('c', 'running', 2), at('d', 'failed', 8)]
  expect(inOrder(jobs).map(({ job_id }) => job_id)).toEqual(['c', 'b', 'a', 'd'])
})

test('checks stand by their rounds, the newest first', () => {
  const check = (round: number, ok: boolean): Check => ({
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
