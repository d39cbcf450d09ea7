import { describe, expect, test } from 'vitest'
import { makeEvent } from '../../testing/live-rows.js'
import { type CompactionItem, eventText, mergeEvents, timelineItems } from './timeline-items.js'

const START = '2026-11-16T12:00:00.000Z'
const start = makeEvent(1, 'compaction_start', { contextUsedPercent: 99 }, { at: START })
const complete = makeEvent(2, 'compaction_complete', { outcome: 'completed', summary: 'so far' })
const loss = { compaction_started_at: START, facts: 4, facts_kept: 3 } as never
const quiet = { all: false }

describe('a session’s timeline', () => {
  test('a compaction is one timeline entry with its loss and what was put back after it', () => {
    expect(timelineItems([start], [], quiet)).toMatchObject([{ kind: 'compaction', complete: null }])
    const back = makeEvent(3, 'recovery_delivered', { compaction_started_at: START, facts: 2 })
    const report = makeEvent(4, 'loss_report', { compaction_started_at: START })
    const items = timelineItems([start, complete, report, back], [loss], quiet)
    expect(items).toHaveLength(1)
    expect(items[0] as CompactionItem).toMatchObject({
      complete: { id: 2 },
      loss: { facts_kept: 3 },
      recoveries: [{ id: 3 }],
    })
  })

  test('a compaction whose start event was pruned still has its summary and its loss', () => {
    expect(timelineItems([complete], [loss], quiet)).toMatchObject([
      { kind: 'compaction', start: null, complete: { id: 2 }, loss: { facts: 4 } },
    ])
  })

  test('a crossed level is listed once with its warning, or alone if there was no warning', () => {
    const events = [
      makeEvent(1, 'level_crossed', { level: 'warning' }),
      makeEvent(2, 'context_warning', { level: 'warning', levels: ['notice', 'warning'] }),
      makeEvent(3, 'level_crossed', { level: 'silent-line' }),
    ]
    expect(timelineItems(events, [], quiet).map(({ key }) => key)).toEqual([3, 2])
    expect(timelineItems(events, [], { all: true }).map(({ key }) => key)).toEqual([3, 2, 1])
  })

  test('events that were both fetched and received live are listed once', () => {
    const [a, b, c] = [1, 2, 3].map((id) => makeEvent(id, 'message_queued'))
    expect(mergeEvents([a!, b!], [b!, c!]).map(({ id }) => id)).toEqual([1, 2, 3])
  })

  test('steps of a job are listed on request only, and a job that waits says why', () => {
    const step = makeEvent(1, 'job_progress', { total_steps: 5, session: 2, used_tokens: 140_016, denied: 0 })
    const waits = makeEvent(2, 'job_progress', { waiting: 'the API is not reachable', attempt: 2, max_attempts: 10 })
    expect(timelineItems([step, waits], [], quiet).map(({ key }) => key)).toEqual([2])
    expect(timelineItems([step, waits], [], { all: true }).map(({ key }) => key)).toEqual([2, 1])
    expect(eventText(step)).toMatchObject({ title: 'Step 5 of the job', detail: 'session 2 · 140,016 tokens used' })
    expect(eventText(waits)).toMatchObject({ title: 'Job waits', detail: 'the API is not reachable · attempt 2 of 10' })
  })

  test('the client’s own names of how a session began or ended are shown as words', () => {
    const ended = (reason: string) => eventText(makeEvent(1, 'session_ended', { reason })).detail
    expect(['other', 'clear', 'bypass_permissions_disabled'].map(ended)).toEqual([
      'no reason reported',
      'by /clear',
      'bypass permissions disabled',
    ])
    expect(eventText(makeEvent(1, 'session_started', { source: 'startup', model: 'opus' })).detail).toBe('opus')
  })
})
