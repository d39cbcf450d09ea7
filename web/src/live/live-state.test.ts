import { describe, expect, test } from 'vitest'
import type { EventType } from '../../../src/contract/records/event.js'
import { makeEvent, makeJobRow, makeSessionRow, makeSnapshot } from '../testing/live-rows.js'
import { parseFrame } from './follow-stream.js'
import { applyFrames, FEED_LIMIT, type Frame, INITIAL_STATE, type LiveState } from './live-state.js'

const snapshot = (change = {}): Frame => ({ kind: 'snapshot', snapshot: makeSnapshot(change) })
const event = (...args: Parameters<typeof makeEvent>): Frame => ({ kind: 'event', event: makeEvent(...args) })
const started: LiveState = applyFrames(INITIAL_STATE, [snapshot()])
const reading = (used: number) => ({
  used_tokens: used,
  window_tokens: 200_000,
  compaction_tokens: 167_000,
  used_percent: used / 2000,
  compaction_percent: (used / 167_000) * 100,
  source: 'status-line',
  exact: true,
  cycle: 1,
})

describe('frames of a connected stream', () => {
  test('a reading moves its session’s gauge and leaves the other rows as they are', () => {
    const state = applyFrames(INITIAL_STATE, [
      snapshot({ sessions: [makeSessionRow(), makeSessionRow({ session_id: 's2' })] }),
    ])
    const next = applyFrames(state, [event(11, 'reading', reading(100_200))])
    expect(next.sessions.get('s1')).toMatchObject({
      used_tokens: 100_200,
      compaction_percent: 60,
      remaining_percent: 40,
    })
    expect(next.sessions.get('s2')).toBe(state.sessions.get('s2'))
    expect(next.feed).toEqual([])
  })

  test('a reading that arrives late does not replace a newer one', () => {
    const next = applyFrames(started, [
      event(12, 'reading', reading(90_000), { at: '2026-11-16T12:00:09.000Z' }),
      event(11, 'reading', reading(80_000), { at: '2026-11-16T12:00:08.000Z' }),
    ])
    expect(next.sessions.get('s1')?.used_tokens).toBe(90_000)
  })

  test('a reading from before a compaction does not fill the gauge again', () => {
    const emptied: Frame = { kind: 'session', row: makeSessionRow({ used_tokens: null, cycle: 2 }) }
    const next = applyFrames(started, [emptied, event(11, 'reading', reading(160_000))])
    expect(next.sessions.get('s1')).toMatchObject({ used_tokens: null, cycle: 2 })
  })

  test('levels, compactions and the end of a session show at once', () => {
    const crossed = applyFrames(started, [
      event(11, 'level_crossed', { level: 'warning' }),
      event(12, 'compaction_start'),
    ])
    expect(crossed.sessions.get('s1')).toMatchObject({ level: 'warning', state: 'compacting' })
    const ended = applyFrames(crossed, [event(13, 'session_ended', { reason: 'other' })])
    expect(ended.sessions.get('s1')).toMatchObject({ state: 'ended', ended_at: '2026-11-16T12:00:05.000Z' })
    expect(ended.feed.map(({ id }) => id)).toEqual([11, 12, 13])
  })

  test('a session row replaces what earlier events changed in it', () => {
    const next = applyFrames(started, [
      event(11, 'compaction_start'),
      { kind: 'session', row: makeSessionRow({ state: 'idle', compactions: 1 }) },
    ])
    expect(next.sessions.get('s1')).toMatchObject({ state: 'idle', compactions: 1 })
  })

  test('an increase in a row’s spend is added to today, and an older session new to the page is not', () => {
    const spent = (id: string, cost_usd: number | null, started_at = '2026-11-16T11:00:00.000Z'): Frame => ({
      kind: 'session',
      row: makeSessionRow({ session_id: id, started_at, spend: { ...makeSessionRow().spend, cost_usd } }),
    })
    const next = applyFrames(started, [
      spent('s1', 0.75),
      spent('s1', 0.8),
      spent('new', 0.2, '2026-11-16T12:00:03.000Z'),
      spent('old', 9),
    ])
    expect(next.spendToday?.cost_usd).toBeCloseTo(1.5)
    expect(applyFrames(started, [spent('s1', 0.1)]).spendToday?.cost_usd).toBe(1)
  })

  test('a page that stays open over midnight starts the spend of the new day at zero', () => {
    const row = (seen_at: string, cost_usd: number): Frame => ({
      kind: 'session',
      row: makeSessionRow({ seen_at, spend: { ...makeSessionRow().spend, cost_usd } }),
    })
    const next = applyFrames(started, [row('2026-11-18T12:00:00.000Z', 0.75), row('2026-11-18T12:01:00.000Z', 1)])
    expect(next.spendToday?.cost_usd).toBeCloseTo(0.5)
  })

  test('a brief is listed as waiting only while it is in review', () => {
    const row = { brief_id: 'b1', status: 'review' } as never
    const waiting = applyFrames(started, [{ kind: 'brief', row }])
    expect(waiting.briefs.size).toBe(1)
    expect(
      applyFrames(waiting, [{ kind: 'brief', row: { brief_id: 'b1', status: 'approved' } as never }]).briefs.size,
    ).toBe(0)
  })
})

describe('rows that are gone', () => {
  const gone = (kind: string, id: string): Frame => ({ kind: 'gone', gone: { kind, id } as never })

  test('a row that is gone leaves its table, and the other tables stay the same objects', () => {
    const state = applyFrames(INITIAL_STATE, [
      snapshot({
        sessions: [makeSessionRow(), makeSessionRow({ session_id: 's2' })],
        jobs: [makeJobRow()],
        briefs: [{ brief_id: 'b1', status: 'review' } as never],
      }),
    ])
    const next = applyFrames(state, [gone('session', 's1')])
    expect([...next.sessions.keys()]).toEqual(['s2'])
    expect([next.jobs, next.briefs]).toEqual([state.jobs, state.briefs])
    const rest = applyFrames(next, [
      gone('job', 'job_1'),
      gone('brief', 'b1'),
      gone('session', 'nobody'),
      gone('planet', 'p1'),
    ])
    expect([rest.jobs.size, rest.briefs.size, rest.gone]).toEqual([0, 0, 5])
    expect(rest.sessions).toBe(next.sessions)
  })

  test('a message that a row is gone is parsed from the stream', () => {
    const sent = { kind: 'session', id: 's1' }
    expect(parseFrame({ event: 'gone', data: JSON.stringify(sent), id: null })).toEqual({ kind: 'gone', gone: sent })
  })

  test('a session that was gone is listed again when its row arrives', () => {
    const back = applyFrames(started, [gone('session', 's1'), { kind: 'session', row: makeSessionRow() }])
    expect([...back.sessions.keys()]).toEqual(['s1'])
  })
})

describe('a stream that breaks', () => {
  test('events missed while disconnected are listed once and do not change newer rows', () => {
    const before = applyFrames(started, [event(11, 'context_warning'), { kind: 'lost' }])
    expect(before.status).toBe('lost')
    const after = applyFrames(before, [
      snapshot({ last_event_id: 14, sessions: [makeSessionRow({ state: 'idle' })] }),
      event(11, 'context_warning'),
      event(12, 'compaction_start'),
      event(13, 'compaction_complete'),
      event(15, 'context_warning'),
    ])
    expect(after.feed.map(({ id }) => id)).toEqual([11, 12, 13, 15])
    expect(after).toMatchObject({ status: 'live', epoch: 2, lastEventId: 15 })
    expect(after.sessions.get('s1')?.state).toBe('idle')
  })

  test('a gap in the stream empties the feed and makes pages ask the server again', () => {
    const after = applyFrames(applyFrames(started, [event(11, 'context_warning')]), [
      snapshot({ last_event_id: 9_000 }),
      { kind: 'gap' },
    ])
    expect(after).toMatchObject({ feed: [], lastEventId: 9_000, epoch: 3 })
  })

  test('a store whose event ids start over replaces everything from the old store', () => {
    const after = applyFrames(applyFrames(started, [event(11, 'context_warning')]), [
      snapshot({ last_event_id: 2, sessions: [] }),
      event(3, 'session_started'),
    ])
    expect(after.feed.map(({ id }) => id)).toEqual([3])
    expect(after.sessions.size).toBe(0)
  })

  test('the feed of events has a fixed maximum length', () => {
    const burst = Array.from({ length: FEED_LIMIT + 100 }, (_, n) => event(11 + n, 'message_queued'))
    const { feed } = applyFrames(started, burst)
    expect([feed.length, feed.at(-1)?.id]).toEqual([FEED_LIMIT, 10 + FEED_LIMIT + 100])
  })
})

const withJob = applyFrames(INITIAL_STATE, [
  { kind: 'snapshot', snapshot: { ...makeSnapshot(), last_event_id: 10, jobs: [makeJobRow()] } },
])
const jobAfter = (type: string, data: Record<string, unknown>, id = 11) =>
  applyFrames(withJob, [
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

describe('events of a job', () => {
  test('progress of a job updates the figures of the session it names', () => {
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

  test('events of a job set its retry, its denied calls and its end at once', () => {
    const retry = { attempt: 2, max_attempts: 10, until: '2026-11-16T09:05:35.000Z' }
    expect(jobAfter('job_progress', { ...retry, waiting: 'the API is not reachable', denied: 1 })).toMatchObject({
      denied_calls: 1,
      retry: { reason: 'the API is not reachable', attempt: 2, max_attempts: 10, at: retry.until },
    })
    expect(jobAfter('job_progress', {})).toMatchObject({ retry: null })
    expect(jobAfter('job_waiting', { ...retry, reason: 'Connection error' })).toMatchObject({
      retry: { reason: 'Connection error', attempt: 2 },
    })
    expect(jobAfter('job_failed', { exit_reason: 'max_budget' })).toMatchObject({
      status: 'failed',
      exit_reason: 'max_budget',
      ended_at: '2026-11-16T10:01:00.000Z',
    })
  })

  test('a check appears in its job as soon as it has run, and only once', () => {
    const sent = {
      round: 1,
      name: 'npm test',
      command: 'npm test',
      ok: false,
      exit_code: 1,
      duration_ms: 5,
      output_path: '/o',
    }
    expect(jobAfter('check_completed', sent)?.checks).toMatchObject([{ name: 'npm test', ok: false, exit_code: 1 }])
    const twice = applyFrames(withJob, [
      { kind: 'job', row: jobAfter('check_completed', sent)! },
      {
        kind: 'event',
        event: {
          id: 11,
          type: 'check_completed' as EventType,
          at: '',
          session_id: null,
          seat_id: null,
          job_id: 'job_1',
          data: sent,
        },
      },
    ])
    expect(twice.jobs.get('job_1')?.checks).toHaveLength(1)
  })

  test('an event older than the job’s row does not change the row', () => {
    expect(jobAfter('job_failed', {}, 9)?.status).toBe('running')
  })
})
