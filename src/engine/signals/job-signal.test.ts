import { describe, expect, test } from 'vitest'
import { agents } from '../../agents/index.js'
import type { JobRecord } from '../../contract/records/job.js'
import { BLANK_SIGNAL, type Signal } from '../../contract/signal.js'
import { processInfo } from '../../lib/process-info.js'
import type { Store } from '../../store/store.js'
import { resolveJobSignal } from './prepare-signal.js'

const { pid, startedAt } = processInfo(process.pid)!
const LIVING = { pid, startedAt }
const signal = (more: Partial<Signal> = {}): Signal => ({
  ...BLANK_SIGNAL,
  agent: 'claude-code',
  event: 'Stop',
  at: 1,
  sessionId: 'own',
  jobId: 'job_1',
  seat: 'seat_1',
  ...more,
})

function parts(runner: JobRecord['runner']) {
  const store = {
    job: (id: string) => (id === 'job_1' ? ({ jobId: id, seatId: 'seat_1', runner } as JobRecord) : null),
    attemptOfSession: (id: string) => (id === 'own' ? {} : null),
  }
  return { agents, store: store as unknown as Store }
}

describe('a signal from a place of a job', () => {
  test('counts from its runner; from a hook only once the runner was killed', () => {
    expect(resolveJobSignal(parts(LIVING), signal(), true)).toEqual(signal())
    expect(resolveJobSignal(parts(LIVING), signal(), false)).toBeNull()
    expect(resolveJobSignal(parts({ ...LIVING, startedAt: 'another' }), signal(), false)).toEqual(signal())
  })

  test('is a straggler after the job has ended', () => {
    expect(resolveJobSignal(parts(null), signal(), false)).toBeNull()
  })

  test('of a client that a tool started is one like any other, below the job', () => {
    const nested = resolveJobSignal(parts(LIVING), signal({ sessionId: 'other' }), false)
    expect(nested).toMatchObject({ jobId: null, seat: null, parentSeat: 'seat_1' })
    const named = resolveJobSignal(parts(LIVING), signal({ sessionId: 'other', seat: 'mine' }), false)
    expect(named).toMatchObject({ jobId: null, seat: 'mine', parentSeat: null })
  })

  test('of another program’s job, or of none, is left as it is', () => {
    for (const jobId of ['theirs', null])
      expect(resolveJobSignal(parts(LIVING), signal({ jobId }), false)).toEqual(signal({ jobId }))
  })
})
