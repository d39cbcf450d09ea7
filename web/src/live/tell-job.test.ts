import { describe, expect, it } from 'vitest'
import type { EventType } from '../../../src/contract/event.js'
import { aJobRow } from './a-job-row.js'
import { aSnapshot } from './a-row.js'
import { fold, NOTHING_HEARD } from './live.js'

const begun = fold(NOTHING_HEARD, [{ kind: 'snapshot', snapshot: { ...aSnapshot(), last_event_id: 10, jobs: [aJobRow()] } }])
const jobAfter = (type: string, data: Record<string, unknown>, id = 11) =>
  fold(begun, [
    {
      kind: 'event',
      event: {
        id,
        type: type as EventType,
        at: '2026-11-16T10:01:00.000Z',
        session_id: null,
        seat_id: null,
        job_id: 'job_1',
        data,
      },
    },
  ]).jobs.get('job_1')

describe('a job', () => {
  it('climbs with its progress, in the session that tells it', () => {
    const job = jobAfter('job_progress', {
      session: 2,
      used_tokens: 90_000,
      compaction_tokens: 167_000,
      steps: 7,
      total_steps: 27,
      handoffs: 1,
    })
    expect(job?.sessions.map(({ used_tokens, steps }) => [used_tokens, steps])).toEqual([
      [150_000, 20],
      [90_000, 7],
    ])
    expect(job).toMatchObject({ steps: 27, handoffs: 1 })
  })

  it('ends with its event', () => {
    expect(jobAfter('job_failed', { exit_reason: 'max_budget' })).toMatchObject({
      status: 'failed',
      exit_reason: 'max_budget',
      ended_at: '2026-11-16T10:01:00.000Z',
    })
  })

  it('has a check as soon as it has run, once', () => {
    const told = { round: 1, name: 'npm test', command: 'npm test', ok: false, exit_code: 1, duration_ms: 5, output_path: '/o' }
    expect(jobAfter('check_completed', told)?.checks).toMatchObject([{ name: 'npm test', ok: false, exit_code: 1 }])
    const twice = fold(begun, [
      { kind: 'job', row: jobAfter('check_completed', told)! },
      {
        kind: 'event',
        event: {
          id: 11,
          type: 'check_completed' as EventType,
          at: '',
          session_id: null,
          seat_id: null,
          job_id: 'job_1',
          data: told,
        },
      },
    ])
    expect(twice.jobs.get('job_1')?.checks).toHaveLength(1)
  })

  it('is not changed by what its row tells already', () => {
    expect(jobAfter('job_failed', {}, 9)?.status).toBe('running')
  })
})
