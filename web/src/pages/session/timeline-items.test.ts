import { describe, expect, test } from 'vitest'
import { makeEvent } from '../../testing/live-rows.js'
import { type CompactionItem, itemsOf, mergeEvents } from './timeline-items.js'

const START = '2026-11-16T12:00:00.000Z'
const start = makeEvent(1, 'compaction_start', { contextUsedPercent: 99 }, { at: START })
const complete = makeEvent(2, 'compaction_complete', { outcome: 'completed', summary: 'so far' })
const loss = { compaction_started_at: START, facts: 4, facts_kept: 3 } as never
const quiet = { all: false }

describe('a session’s timeline', () => {
  test('a compaction is one timeline entry with its loss and what was put back after it', () => {
    expect(itemsOf([start], [], quiet)).toMatchObject([{ kind: 'compaction', complete: null }])
    const back = makeEvent(3, 'recovery_delivered', { compaction_started_at: START, facts: 2 })
    const report = makeEvent(4, 'loss_report', { compaction_started_at: START })
    const items = itemsOf([start, complete, report, back], [loss], quiet)
    expect(items).toHaveLength(1)
    expect(items[0] as CompactionItem).toMatchObject({
      complete: { id: 2 },
      loss: { facts_kept: 3 },
      recoveries: [{ id: 3 }],
    })
  })

  test('a compaction whose start event was pruned still has its summary and its loss', () => {
    expect(itemsOf([complete], [loss], quiet)).toMatchObject([
      { kind: 'compaction', start: null, complete: { id: 2 }, loss: { facts: 4 } },
    ])
  })

  test('a crossed level is listed once with its warning, or alone if there was no warning', () => {
    const events = [
      makeEvent(1, 'level_crossed', { level: 'warning' }),
      makeEvent(2, 'context_warning', { level: 'warning', levels: ['notice', 'warning'] }),
      makeEvent(3, 'level_crossed', { level: 'silent-line' }),
    ]
    expect(itemsOf(events, [], quiet).map(({ key }) => key)).toEqual([3, 2])
    expect(itemsOf(events, [], { all: true }).map(({ key }) => key)).toEqual([3, 2, 1])
  })

  test('events that were both fetched and received live are listed once', () => {
    const [a, b, c] = [1, 2, 3].map((id) => makeEvent(id, 'message_queued'))
    expect(mergeEvents([a!, b!], [b!, c!]).map(({ id }) => id)).toEqual([1, 2, 3])
  })
})
