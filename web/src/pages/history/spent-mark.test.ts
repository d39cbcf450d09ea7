import { expect, it } from 'vitest'
import { anEvent, aRow, aSnapshot } from '../../live/a-row.js'
import { fold, NOTHING_HEARD } from '../../live/live.js'
import { spentMark } from './spent-mark.js'

it('the mark of a history changes with what is spent and with what it counts, and with nothing else', () => {
  expect(spentMark(NOTHING_HEARD)).toBe('')
  const begun = fold(NOTHING_HEARD, [{ kind: 'snapshot', snapshot: aSnapshot() }])
  const mark = spentMark(begun)
  expect(mark).not.toBe('')
  const after = (...frames: Parameters<typeof fold>[1]) => spentMark(fold(begun, frames))
  expect(after({ kind: 'session', row: aRow({ state: 'idle' }) }, { kind: 'event', event: anEvent(11, 'level_crossed') })).toBe(
    mark,
  )
  expect(after({ kind: 'session', row: aRow({ spend: { ...aRow().spend, cost_usd: 0.75 } }) })).not.toBe(mark)
  expect(after({ kind: 'session', row: aRow({ spend: { ...aRow().spend, output_tokens: 9 } }) })).not.toBe(mark)
  expect(after({ kind: 'event', event: anEvent(11, 'compaction_complete') })).not.toBe(mark)
})
