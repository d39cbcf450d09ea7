import { describe, expect, test } from 'vitest'
import type { Event } from '../../contract/records/event.js'
import { jobEventLine, progressLine } from './job-event.js'
import { plain } from './screen.js'
import { widthOf } from './text.js'

const event = (data: Record<string, unknown>, type: Event['type'] = 'job_progress'): Event => ({
  id: 1,
  type,
  at: '2026-11-16T09:05:31.000Z',
  session_id: 's',
  seat_id: 'seat_1',
  job_id: 'job_1',
  data,
})
const DATA = {
  total_steps: 11,
  session: 2,
  used_tokens: 110_016,
  compaction_tokens: 167_000,
  handoffs: 1,
  max_handoffs: 3,
  spent_tokens: 941_638,
  cost_usd: null,
  full_at: 131_000,
  tokens_per_step: 15_000,
}

describe('the line of a job at work', () => {
  test('the progress line of a job shows step, fullness, handoffs, spend and forecast at every width', () => {
    expect(progressLine(event(DATA), plain)).toBe(
      '▰▰▰▰▰▰▰▱▱▱ step 11 · session 2 · 110,016 of 167,000 (65.9%) · handoffs 1/3 · 941,638 tokens spent · handoff ' +
        'in about 2 steps',
    )
    expect(progressLine(event(DATA), plain, 117)).toBe(
      '▰▰▰▰▰▰▰▱▱▱ step 11 · 110k of 167k (65.9%) · handoffs 1/3 · 942k tokens spent · handoff in about 2 steps',
    )
    expect(progressLine(event(DATA), plain, 77)).toBe(
      '▰▰▰▰▰▰▰▱▱▱ step 11 · 66% of 167k · handoffs 1/3, next in 2 · 942k spent',
    )
    expect(progressLine(event(DATA), plain, 57)).toBe('step 11 · 66% · handoffs 1/3, next in 2 · 942k spent')
    for (let columns = 20; columns < 140; columns++)
      expect(widthOf(progressLine(event(DATA), plain, columns)), `${columns} columns`).toBeLessThanOrEqual(columns)
  })

  test('the progress line of a job leaves out unknown figures and shows money when it is known', () => {
    expect(progressLine(event({ total_steps: 1 }), plain)).toBe('·········· step 1 · session – · handoffs –/–')
    expect(progressLine(event({ ...DATA, cost_usd: 1.5 }), plain)).toContain('· $1.50 ·')
    const retry = {
      waiting: 'the API is not reachable',
      attempt: 3,
      max_attempts: 10,
      until: '2026-11-16T09:05:35.000Z',
    }
    expect(progressLine(event({ ...DATA, ...retry }), plain)).toContain(
      'the API is not reachable: attempt 3 of 10 in 4 s',
    )
    const later = Date.parse('2026-11-16T09:05:34.200Z')
    expect(progressLine(event({ ...DATA, ...retry }), plain, 200, later)).toContain('attempt 3 of 10 in 1 s')
    expect(progressLine(event({ ...DATA, ...retry }), plain, 200, later + 900)).toContain('attempt 3 of 10 now')
    expect(progressLine(event({ ...DATA, denied: 2 }), plain)).toContain('· 2 denied ·')
    expect(progressLine(event({ ...DATA, denied: 2 }), plain, 80)).toContain('· 2 denied')
    expect(progressLine(event({ ...DATA, denied: 0 }), plain)).not.toContain('denied')
    expect(progressLine(event({ ...DATA, background: 1 }), plain)).toContain('waits for background work (1)')
  })

  test('the progress line of a job forecasts a compaction once the handoffs are used up', () => {
    const last = { ...DATA, handoffs: 3, full_at: 167_000 }
    expect(progressLine(event(last), plain)).toContain('compaction in about 4 steps')
    expect(progressLine(event(last), plain, 80)).toContain('handoffs 3/3, compaction in 4')
    expect(progressLine(event({ ...DATA, used_tokens: 140_000 }), plain)).toContain('handoff now')
  })

  test('the progress line of a job forecasts a compaction while a hook lets a full session continue', () => {
    expect(progressLine(event({ ...DATA, full_at: 167_000 }), plain)).toContain('compaction in about 4 steps')
  })
})

test('the line for the start of a job names the job', () => {
  expect(jobEventLine(event({}, 'job_started'), plain)).toMatch(/ job_1 started$/)
})

describe('a round of checks', () => {
  const round = { round: 1, rounds: 4, of: 2 }
  const said = (type: Event['type'], data: Record<string, unknown>) =>
    jobEventLine(event({ ...round, ...data }, type), plain)?.slice(9)

  test('a round of checks names the running check, its result, and that a failure goes back to the agent', () => {
    expect(said('check_started', { number: 1, name: 'npm test' })).toBe('check 1 of 2 runs: npm test (round 1 of 4)')
    expect(said('check_completed', { name: 'npm test', ok: true, exit_code: 0, duration_ms: 3_140 })).toBe(
      'check passed: npm test (3.1 s)',
    )
    expect(said('check_completed', { name: 'lint', ok: false, exit_code: 2, duration_ms: 20 })).toBe(
      'check failed: lint (exit 2, 20 ms)',
    )
    const endless = { name: 'lint', ok: false, exit_code: null, timed_out: true, duration_ms: 600_010 }
    expect(said('check_completed', endless)).toBe('check failed: lint (timed out after 600 s)')
    expect(said('checks_completed', { passed: 1, failed: 1, next: 'agent' })).toBe(
      '1 of 2 checks failed in round 1 of 4: the agent gets their output (3 rounds left)',
    )
    expect(said('checks_completed', { round: 4, passed: 0, failed: 2, next: 'failed' })).toBe(
      '2 of 2 checks failed in round 4 of 4: no round is left',
    )
    expect(said('checks_completed', { passed: 2, failed: 0, next: 'completed' })).toBeUndefined()
  })
})
