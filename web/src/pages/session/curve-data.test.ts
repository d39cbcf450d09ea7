import { describe, expect, test } from 'vitest'
import { makeEvent } from '../../testing/live-rows.js'
import { curveData, curveMarks, nearestReading, spanOfSingleReading } from './curve-data.js'

const columns = {
  session_id: 's1',
  at: [1_000, 2_000, 3_000],
  used_tokens: [10, 20, 5],
  cycle: [1, 1, 2],
  window_tokens: [200, 200, 200],
  compaction_tokens: [167, 167, null],
}

describe('the curve of context use', () => {
  test('the curve of a single reading is shown one minute wide', () => {
    expect(spanOfSingleReading([[100], [10], [167]])).toEqual({ min: 70, max: 130 })
    expect(spanOfSingleReading(curveData(columns, []))).toBeNull()
    expect(spanOfSingleReading([[], [], []])).toBeNull()
  })

  test('the curve breaks where a cycle ends, so that a compaction is not drawn as a slope', () => {
    expect(curveData(columns, [])).toEqual([
      [1, 2, 2.001, 3],
      [10, 20, null, 5],
      [167, 167, null, null],
    ])
  })

  test('the curve continues with live readings and has no reading twice', () => {
    const live = [
      { at: 3_000, used: 5, cycle: 2, point: 167 },
      { at: 4_000, used: 9, cycle: 2, point: 167 },
    ]
    expect(curveData(columns, live)[1]).toEqual([10, 20, null, 5, 9])
  })

  test('the curve marks warnings at their tokens, and only compactions that completed', () => {
    const events = [
      makeEvent(1, 'context_warning', { level: 'handoff', usedTokens: 142_000, contextUsedPercent: 85 }),
      makeEvent(2, 'cycle_started', { reason: 'start' }),
      makeEvent(3, 'cycle_started', { reason: 'compaction' }),
      makeEvent(4, 'handoff_completed', {}),
    ]
    expect(curveMarks(events).map(({ kind, severity, used }) => [kind, severity, used])).toEqual([
      ['warning', 3, 142_000],
      ['compaction', 0, null],
      ['handoff', 0, null],
    ])
  })

  test('the nearest reading to the pointer is never the break between two cycles', () => {
    const [at, used] = curveData(columns, [])
    expect([0, 1.6, 2.01, 99].map((time) => used[nearestReading(at, used, time)!])).toEqual([10, 20, 20, 5])
    expect(nearestReading([], [], 1)).toBeNull()
  })
})
