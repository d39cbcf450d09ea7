import { describe, expect, test } from 'vitest'
import type { JobRecord } from '../contract/records/job.js'
import { aJob } from '../testing/sample-job.js'
import { countOutcome, isJobOver, nextJobAction, whyNotResumed } from './job.js'
import type { Outcome } from './outcome.js'

const NOW = new Date('2026-11-16T05:00:00.000Z')
const next = (outcome: Outcome, change: Partial<JobRecord> = {}) =>
  nextJobAction({ ...aJob(), ...change }, outcome, NOW)

describe('what a job does when a session ends', () => {
  test('an agent that says it is done is not believed before the checks pass', () => {
    expect(next({ how: 'done', text: 'All done.' })).toEqual({ do: 'check' })
  })

  test('a job in which every edit was denied fails as refused and names the option that allows edits', () => {
    const done = { how: 'done', text: 'All done.' } as const
    expect(next(done, { edits: { made: 0, denied: 2 } })).toMatchObject({
      do: 'end',
      state: 'failed',
      reason: 'refused',
      detail: expect.stringMatching(/all its 2 edits were denied.*--permission-mode acceptEdits/),
    })
    const spec = { ...aJob().spec, permissionMode: 'acceptEdits' as const }
    expect(next(done, { spec, edits: { made: 0, denied: 1 } })).toMatchObject({
      detail: expect.stringMatching(/only edit .*acceptEdits, .*resume it with --permission-mode bypassPermissions/),
    })
    expect(next(done, { edits: { made: 1, denied: 2 } })).toEqual({ do: 'check' })
    expect(next(done, { edits: { made: 0, denied: 0 } })).toEqual({ do: 'check' })
  })

  test('a full session, or one that no longer fits, is handed off while handoffs are left', () => {
    expect(next({ how: 'full' }, { handoffs: 2 })).toEqual({ do: 'hand-off' })
    expect(next({ how: 'too-long', detail: 'Prompt is too long' }, { handoffs: 2 })).toEqual({ do: 'hand-off' })
  })

  test('without a handoff left, a full job compacts or ends as configured, never as completed', () => {
    expect(next({ how: 'full' }, { handoffs: 3 })).toEqual({ do: 'resume', after: 0 })
    const stop = { handoffs: 3, spec: { ...aJob().spec, afterMaxHandoffs: 'stop' as const } }
    expect(next({ how: 'full' }, stop)).toMatchObject({ do: 'end', state: 'failed', reason: 'max_handoffs' })
    expect(next({ how: 'too-long', detail: 'Prompt is too long' }, { handoffs: 3 })).toMatchObject({
      do: 'end',
      state: 'failed',
      reason: 'max_handoffs',
      detail: expect.stringContaining('Prompt is too long'),
    })
  })

  test('a failure is retried after a growing delay, a limited number of times', () => {
    const pauses = [0, 1, 2, 3].map((failures) => next({ how: 'died', detail: 'killed' }, { failures }))
    expect(pauses.map((one) => (one.do === 'resume' ? one.after : null))).toEqual([1_000, 5_000, 20_000, 60_000])
    expect(next({ how: 'trouble', detail: 'overloaded' }, { failures: 4 })).toMatchObject({
      do: 'end',
      reason: 'error',
    })
  })

  test('a limit is waited out until the time the provider names', () => {
    expect(next({ how: 'limited', until: '2026-11-16T07:00:00.000Z', detail: '' })).toEqual({
      do: 'wait',
      until: '2026-11-16T07:00:02.000Z',
    })
  })

  test('a limit without a time, in the past or absurdly far away is waited out with growing delays', () => {
    for (const until of [null, '2026-11-16T04:00:00.000Z', '2031-01-01T00:00:00.000Z', 'soon'])
      expect(next({ how: 'limited', until, detail: '' })).toEqual({ do: 'wait', until: '2026-11-16T05:00:30.000Z' })
    expect(next({ how: 'limited', until: null, detail: '' }, { waits: 9 })).toEqual({
      do: 'wait',
      until: '2026-11-16T05:10:00.000Z',
    })
  })

  test('a client that hangs is resumed once', () => {
    expect(next({ how: 'stalled', silentMs: 900_000 })).toEqual({ do: 'resume', after: 0 })
    expect(next({ how: 'stalled', silentMs: 900_000 }, { stalls: 1 })).toMatchObject({ do: 'end', reason: 'stalled' })
  })

  test('failures, stalls and limits are counted separately', () => {
    const having = (outcomes: Outcome[]) => {
      let job = aJob()
      for (const outcome of outcomes) job = { ...job, ...countOutcome(job, outcome) }
      return job
    }
    const limit: Outcome = { how: 'limited', until: null, detail: '' }
    const error: Outcome = { how: 'trouble', detail: 'overloaded' }
    const hangs: Outcome = { how: 'stalled', silentMs: 900_000 }
    expect(next(error, having([limit, limit, limit, limit]))).toEqual({ do: 'resume', after: 1_000 })
    expect(next(hangs, having([error, limit]))).toEqual({ do: 'resume', after: 0 })
    expect(next(limit, having([error, error, hangs]))).toEqual({ do: 'wait', until: '2026-11-16T05:00:30.000Z' })
    expect(next(hangs, having([hangs, error]))).toMatchObject({ do: 'end', reason: 'stalled' })
  })

  test.each([
    [{ how: 'turns' }, 'max_turns', /turns; .* --budget-turns/],
    [{ how: 'hook', detail: '' }, 'error', /hook.*baton jobs logs job_1/],
    [{ how: 'budget', detail: 'spent' }, 'max_budget', /spent; .* --budget-usd/],
    [{ how: 'timeout', of: 'job' }, 'timeout', /--budget-minutes/],
    [{ how: 'refused', status: 401, detail: 'invalid key' }, 'error', /invalid key \(status 401\).*ANTHROPIC_API_KEY/],
    [{ how: 'refused', status: 404, detail: 'no such model' }, 'error', /no such model \(status 404\)/],
    [{ how: 'circles', times: 20, call: 'Bash ls' }, 'stalled', /same call 20 times.*Bash ls.*baton jobs logs job_1/],
  ] as [Outcome, string, RegExp][])(
    'the outcome %o fails the job at once, says what to do, and the job can be resumed',
    (outcome, reason, detail) => {
      const end = next(outcome)
      expect(end).toMatchObject({ do: 'end', state: 'failed', reason, detail: expect.stringMatching(detail) })
      expect(whyNotResumed({ state: 'failed', exitReason: reason as JobRecord['exitReason'] })).toBeNull()
    },
  )

  test('the maximum duration of a session is told apart from the time budget of the job', () => {
    const session = { mode: 'fresh_per_job', expiresMs: 0, maxMs: 24 * 3600_000, resume: null, project: null } as const
    const spec = { ...aJob().spec, session, budgets: { ...aJob().spec.budgets, minutes: 5 } }
    expect(next({ how: 'too-old' }, { spec })).toEqual({ do: 'hand-off' })
    expect(next({ how: 'too-old' }, { spec, handoffs: 3 })).toMatchObject({
      reason: 'timeout',
      detail: expect.stringMatching(/session.*24 h.*--max-handoffs/),
    })
    expect(next({ how: 'timeout', of: 'job' }, { spec, ranMs: 1_000 })).toMatchObject({
      detail: expect.stringMatching(/5 minutes/),
    })
  })

  test('a pause or cancellation by the user decides how the job ends', () => {
    expect(next({ how: 'stopped', wanted: 'pause' })).toMatchObject({ state: 'paused', reason: null })
    expect(next({ how: 'stopped', wanted: 'cancel' })).toMatchObject({ state: 'cancelled', reason: 'cancelled' })
    expect(next({ how: 'stopped', wanted: 'pause' }, { wanted: 'cancel' })).toMatchObject({ state: 'cancelled' })
    expect(next({ how: 'stopped', wanted: 'leave' })).toMatchObject({
      state: 'paused',
      detail: 'its process received SIGTERM or SIGHUP',
    })
    expect(next({ how: 'stopped', wanted: 'leave' }, { wanted: 'pause' })).toMatchObject({
      detail: 'the user paused it',
    })
  })

  test('a completed or cancelled job is not resumed', () => {
    expect(whyNotResumed({ state: 'completed', exitReason: 'success' })).toMatch(/done/)
    expect(whyNotResumed({ state: 'cancelled', exitReason: 'cancelled' })).toMatch(/cancelled/)
    expect(['completed', 'failed', 'cancelled'].every((state) => isJobOver(state as JobRecord['state']))).toBe(true)
    expect(
      ['pending', 'running', 'handing-off', 'waiting', 'paused'].some((s) => isJobOver(s as JobRecord['state'])),
    ).toBe(false)
  })
})
