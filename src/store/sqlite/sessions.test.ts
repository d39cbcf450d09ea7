import { expect, test } from 'vitest'
import { planOf as planFor } from '../../testing/query-plan.js'
import type { Store } from '../store.js'
import { NO_MEMORY } from './memory.js'
import { sessionRows } from './tables.js'

const planOf = (ask: (rows: Pick<Store, 'sessions' | 'seenSince'>) => unknown): string =>
  planFor((sql) => ask(sessionRows(sql, NO_MEMORY)))

test('those that go on, and those seen lately, are found without a look at all there ever were', () => {
  for (const ask of [
    (rows: Pick<Store, 'sessions'>) => rows.sessions({ seenSince: '2026-01-01', goingOn: 'too' }),
    (rows: Pick<Store, 'sessions'>) => rows.sessions({ goingOn: 'only' }),
    (rows: Pick<Store, 'seenSince'>) => rows.seenSince('2026-01-01'),
  ]) {
    const plan = planOf(ask)
    expect(plan).toContain('sessions_going_on')
    expect(
      plan.split('\n').filter((line) => /^SCAN sessions(?! USING (COVERING )?INDEX sessions_going_on)/.test(line)),
    ).toEqual([])
  }
  expect(planOf((rows) => rows.seenSince('2026-01-01'))).toContain('sessions_over')
})
