import { expect, test } from 'vitest'
import { queryPlanOf as planFor } from '../../testing/query-plan.js'
import type { Store } from '../store.js'
import { NO_CACHE } from './memory.js'
import { sessionRows } from './tables.js'

const planOf = (ask: (rows: Pick<Store, 'sessions' | 'seenSince'>) => unknown): string =>
  planFor((sql) => ask(sessionRows(sql, NO_CACHE)))

test('active and recently seen sessions are found by index, without scanning all sessions', () => {
  for (const ask of [
    (rows: Pick<Store, 'sessions'>) => rows.sessions({ seenSince: '2026-01-01', active: 'also' }),
    (rows: Pick<Store, 'sessions'>) => rows.sessions({ active: 'only' }),
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
