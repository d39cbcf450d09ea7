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

function storeWithRunner(runner: JobRecord['runner']) {
  const store = {
    job: (id: string) => (id === 'job_1' ? ({ jobId: id, seatId: 'seat_1', runner } as JobRecord) : null),
    attemptOfSession: (id: string) => (id === 'own' ? {} : null),
  }
  return { agents, store: store as unknown as Store }
}

describe('a signal from a place of a job', () => {
  test('a signal of a job counts from its runner, and from a hook only once the runner was killed', () => {
    expect(resolveJobSignal(storeWithRunner(LIVING), signal(), true)).toEqual(signal())
    expect(resolveJobSignal(storeWithRunner(LIVING), signal(), false)).toBeNull()
    expect(resolveJobSignal(storeWithRunner({ ...LIVING, startedAt: 'another' }), signal(), false)).toEqual(signal())
  })

  test('a hook signal of a job that has ended is ignored', () => {
    expect(resolveJobSignal(storeWithRunner(null), signal(), false)).toBeNull()
  })

  test('a client started by a tool of a job is measured on its own, in a seat below the job', () => {
    const nested = resolveJobSignal(storeWithRunner(LIVING), signal({ sessionId: 'other' }), false)
    expect(nested).toMatchObject({ jobId: null, seat: null, parentSeat: 'seat_1' })
    const named = resolveJobSignal(storeWithRunner(LIVING), signal({ sessionId: 'other', seat: 'mine' }), false)
    expect(named).toMatchObject({ jobId: null, seat: 'mine', parentSeat: null })
  })

  test('a signal of another program’s job, or of no job, is left unchanged', () => {
    for (const jobId of ['theirs', null])
      expect(resolveJobSignal(storeWithRunner(LIVING), signal({ jobId }), false)).toEqual(signal({ jobId }))
  })
})
