import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Store } from '../store.js'
import type { Database, Statement } from './driver.js'
import { NO_MEMORY } from './memory.js'
import { openSqlite } from './open.js'
import { sessionRows } from './sessions.js'

/** How SQLite would look for what is asked. */
function planOf(ask: (rows: Pick<Store, 'sessions' | 'seenSince'>) => unknown): string {
  const folder = mkdtempSync(join(tmpdir(), 'baton-sessions-'))
  const db: Database = openSqlite(join(folder, 'baton.db'), {})
  try {
    const plans: string[] = []
    const sql = (text: string): Statement => {
      const plan = db.prepare(`EXPLAIN QUERY PLAN ${text}`)
      return {
        ...db.prepare(text),
        all(...values) {
          plans.push(...(plan.all(...values) as { detail: string }[]).map(({ detail }) => detail))
          return []
        },
      } as Statement
    }
    ask(sessionRows(sql, NO_MEMORY))
    return plans.join('\n')
  } finally {
    db.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

it('those that go on, and those seen lately, are found without a look at all there ever were', () => {
  for (const ask of [
    (rows: Pick<Store, 'sessions'>) => rows.sessions({ seenSince: '2026-01-01', goingOn: 'too' }),
    (rows: Pick<Store, 'sessions'>) => rows.sessions({ goingOn: 'only' }),
    (rows: Pick<Store, 'seenSince'>) => rows.seenSince('2026-01-01'),
  ]) {
    const plan = planOf(ask)
    expect(plan).toContain('sessions_going_on')
    expect(plan.split('\n').filter((line) => /^SCAN sessions(?! USING (COVERING )?INDEX sessions_going_on)/.test(line))).toEqual(
      [],
    )
  }
  expect(planOf((rows) => rows.seenSince('2026-01-01'))).toContain('sessions_over')
})
