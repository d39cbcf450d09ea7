import { describe, expect, test } from 'vitest'
import { applyFrames, INITIAL_STATE } from '../../live/live-state.js'
import { makeEvent, makeSessionRow, makeSnapshot } from '../../testing/live-rows.js'
import { axisScale, barsOf, barsWithDateLabel, dateText, type HistoryDay, spentMark } from './history-page.js'

test('the mark of a history changes only with spend and with the events it counts', () => {
  expect(spentMark(INITIAL_STATE)).toBe('')
  const started = applyFrames(INITIAL_STATE, [{ kind: 'snapshot', snapshot: makeSnapshot() }])
  const mark = spentMark(started)
  expect(mark).not.toBe('')
  const after = (...frames: Parameters<typeof applyFrames>[1]) => spentMark(applyFrames(started, frames))
  expect(
    after(
      { kind: 'session', row: makeSessionRow({ state: 'idle' }) },
      { kind: 'event', event: makeEvent(11, 'level_crossed') },
    ),
  ).toBe(mark)
  expect(
    after({ kind: 'session', row: makeSessionRow({ spend: { ...makeSessionRow().spend, cost_usd: 0.75 } }) }),
  ).not.toBe(mark)
  expect(
    after({ kind: 'session', row: makeSessionRow({ spend: { ...makeSessionRow().spend, output_tokens: 9 } }) }),
  ).not.toBe(mark)
  expect(after({ kind: 'event', event: makeEvent(11, 'compaction_complete') })).not.toBe(mark)
})

function days(count: number, change: (n: number) => Partial<HistoryDay> = () => ({})): HistoryDay[] {
  return Array.from({ length: count }, (_, n) => ({
    date: new Date(Date.UTC(2026, 0, 1) + n * 86_400_000).toISOString().slice(0, 10),
    sessions: 1,
    steps: 10,
    input_tokens: 1,
    output_tokens: 1,
    cache_creation_tokens: 0,
    cache_read_tokens: 0,
    cache_hit_rate: null,
    cost_usd: null,
    compactions: 0,
    handoffs: 0,
    tokens_saved: 0,
    ...change(n),
  }))
}

describe('bars of a history', () => {
  test('a history has a bar per day, or per week beyond a hundred days, without gaps or overlaps', () => {
    expect(barsOf(days(90), 'sessions')).toHaveLength(90)
    const weeks = barsOf(days(365), 'steps')
    expect(weeks).toHaveLength(53)
    expect(weeks.at(-1)).toEqual({ from: '2026-12-25', to: '2026-12-31', value: 70 })
    expect(weeks[0]).toEqual({ from: '2026-01-01', to: '2026-01-01', value: 10 })
    expect(weeks.reduce((all, { value }) => all + (value ?? 0), 0)).toBe(3_650)
  })

  test('an unreported cost is unknown and does not hide a reported one of the same week', () => {
    const weeks = barsOf(
      days(120, (n) => (n === 119 ? { cost_usd: 2.5 } : {})),
      'cost_usd',
    )
    expect([weeks.at(-1)?.value, weeks.at(-2)?.value]).toEqual([2.5, null])
  })

  test('the scale of a chart ends just above the greatest bar, in round steps', () => {
    expect(axisScale(7.3, false)).toEqual({ top: 7.5, lines: [2.5, 5, 7.5] })
    expect(axisScale(2, true)).toEqual({ top: 2, lines: [1, 2] })
    expect(axisScale(1, true)).toEqual({ top: 1, lines: [1] })
    expect(axisScale(0, true).lines).toEqual([])
    for (const greatest of [0.004, 0.03, 1, 3, 9.99, 10, 47, 101, 99_999]) {
      const { top, lines } = axisScale(greatest, false)
      expect(top).toBeGreaterThanOrEqual(greatest)
      expect(top).toBeLessThan(greatest * 2.1)
      expect(lines.length).toBeLessThanOrEqual(4)
    }
  })

  test('a chart labels few dates, and the first day of each month when it spans several', () => {
    const month = barsOf(days(30), 'sessions')
    expect(barsWithDateLabel(month).map((at) => month[at]!.from)).toEqual([
      '2026-01-06',
      '2026-01-14',
      '2026-01-22',
      '2026-01-30',
    ])
    const quarter = barsOf(days(100), 'sessions')
    expect(barsWithDateLabel(quarter).map((at) => dateText(quarter[at]!.from))).toEqual(['1 Feb', '1 Mar', '1 Apr'])
    expect(barsWithDateLabel(barsOf(days(365), 'sessions')).length).toBeLessThanOrEqual(6)
  })
})
