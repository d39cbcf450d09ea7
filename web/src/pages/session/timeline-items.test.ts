import { describe, expect, test } from 'vitest'
import { makeEvent } from '../../testing/live-rows.js'
import { type CompactionItem, itemsOf, mergeEvents } from './timeline-items.js'

const START = '2026-11-16T12:00:00.000Z'
const start = makeEvent(1, 'compaction_start', { contextUsedPercent: 99 }, { at: START })
const complete = makeEvent(2, 'compaction_complete', { outcome: 'completed', summary: 'so far' })
const loss = { compaction_started_at: START, facts: 4, facts_kept: 3 } as never
const quiet = { all: false }

describe('a session’s timeline', () => {
  test('a compaction is under way until it ends, and then one entry with its loss and what was put back', () => {
    expect(itemsOf([start], [], quiet)).toMatchObject([{ kind: 'compaction', complete: null }])
    const back = makeEvent(3, 'recovery_delivered', { compaction_started_at: START, facts: 2 })
    const told = makeEvent(4, 'loss_report', { compaction_started_at: START })
    const items = itemsOf([start, complete, told, back], [loss], quiet)
    expect(items).toHaveLength(1)
    expect(items[0] as CompactionItem).toMatchObject({
      complete: { id: 2 },
      loss: { facts_kept: 3 },
      recoveries: [{ id: 3 }],
    })
  })

  test('one whose beginning was thinned away still has its summary and its loss', () => {
    expect(itemsOf([complete], [loss], quiet)).toMatchObject([
      { kind: 'compaction', start: null, complete: { id: 2 }, loss: { facts: 4 } },
    ])
  })

  test('a level that was warned of is said once; one without a warning is said too', () => {
    const events = [
      makeEvent(1, 'level_crossed', { level: 'warning' }),
      makeEvent(2, 'context_warning', { level: 'warning', levels: ['notice', 'warning'] }),
      makeEvent(3, 'level_crossed', { level: 'silent-line' }),
    ]
    expect(itemsOf(events, [], quiet).map(({ key }) => key)).toEqual([3, 2])
    expect(itemsOf(events, [], { all: true }).map(({ key }) => key)).toEqual([3, 2, 1])
  })

  test('what was fetched and what came live are told once each', () => {
    const [a, b, c] = [1, 2, 3].map((id) => makeEvent(id, 'message_queued'))
    expect(mergeEvents([a!, b!], [b!, c!]).map(({ id }) => id)).toEqual([1, 2, 3])
  })
})
