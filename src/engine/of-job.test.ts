import { describe, expect, it } from 'vitest'
import { agents } from '../agents/index.js'
import { BLANK_SIGNAL } from '../contract/blank-signal.js'
import type { JobRecord } from '../contract/job.js'
import type { Signal } from '../contract/signal.js'
import { processInfo } from '../lib/process-info.js'
import type { Store } from '../store/store.js'
import { ofJob } from './of-job.js'

const { pid, startedAt } = processInfo(process.pid)!
const LIVING = { pid, startedAt }
const signal = (more: Partial<Signal> = {}): Signal => ({
  ...{ ...BLANK_SIGNAL, agent: 'claude-code', event: 'Stop', at: 1, sessionId: 'own', jobId: 'job_1', seat: 'seat_1' },
  ...more,
})

function parts(runner: JobRecord['runner']) {
  const store = {
    job: (id: string) => (id === 'job_1' ? ({ jobId: id, seatId: 'seat_1', runner } as JobRecord) : null),
    attemptOf: (id: string) => (id === 'own' ? {} : null),
  }
  return { agents, store: store as unknown as Store }
}

describe('a signal from a place of a job', () => {
  it('counts from its runner; from a hook only once the runner was killed', () => {
    expect(ofJob(parts(LIVING), signal(), true)).toEqual(signal())
    expect(ofJob(parts(LIVING), signal(), false)).toBeNull()
    expect(ofJob(parts({ ...LIVING, startedAt: 'another' }), signal(), false)).toEqual(signal())
  })

  it('is a straggler after the job has ended', () => {
    expect(ofJob(parts(null), signal(), false)).toBeNull()
  })

  it('of a client that a tool started is one like any other, below the job', () => {
    const nested = ofJob(parts(LIVING), signal({ sessionId: 'other' }), false)
    expect(nested).toMatchObject({ jobId: null, seat: null, parentSeat: 'seat_1' })
    const named = ofJob(parts(LIVING), signal({ sessionId: 'other', seat: 'mine' }), false)
    expect(named).toMatchObject({ jobId: null, seat: 'mine', parentSeat: null })
  })

  it('of another program’s job, or of none, is left as it is', () => {
    for (const jobId of ['theirs', null]) expect(ofJob(parts(LIVING), signal({ jobId }), false)).toEqual(signal({ jobId }))
  })
})
