import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { EventQuery } from '../store.js'
import type { Database, Statement } from './driver.js'
import { eventRows } from './events.js'
import { openSqlite } from './open.js'

/** How SQLite would look for what is asked. */
function planOf(ask: (rows: ReturnType<typeof eventRows>) => unknown): string {
  const folder = mkdtempSync(join(tmpdir(), 'baton-events-'))
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
    ask(eventRows(sql))
    return plans.join('\n')
  } finally {
    db.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

const asked = (query: EventQuery) => planOf((rows) => rows.events(query))

describe('looking for events', () => {
  it('reads only what is newer, however much there ever was', () => {
    for (const query of [
      { afterId: 5, limit: 10 },
      { afterId: 5, limit: 10, readings: 'newest' },
      { afterId: 5, sessionId: 's1', readings: 'newest' },
      { jobId: 'j1', readings: 'none' },
    ] satisfies EventQuery[]) {
      expect(asked(query), JSON.stringify(query)).toContain('SEARCH')
      expect(asked(query), JSON.stringify(query)).not.toContain('SCAN')
    }
  })

  it('reads no reading where none is wanted', () => {
    for (const query of [
      { readings: 'none', afterId: 5, limit: 10 },
      { readings: 'none', limit: 10 },
    ] satisfies EventQuery[])
      expect(asked(query), JSON.stringify(query)).toContain('events_but_readings')
  })

  it('finds compactions and handoffs of a history by their own index', () => {
    expect(planOf((rows) => rows.milestones('2026-01-01'))).toContain('events_milestones')
  })
})
