import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Statement } from '../store/sqlite/driver.js'
import { openSqlite } from '../store/sqlite/open.js'

/** Returns SQLite's query plan for queries on an empty store. */
export function queryPlanOf(ask: (sql: (text: string) => Statement) => unknown): string {
  const folder = mkdtempSync(join(tmpdir(), 'baton-plan-'))
  const db = openSqlite(join(folder, 'baton.db'), {})
  try {
    const plans: string[] = []
    ask((text) => {
      const plan = db.prepare(`EXPLAIN QUERY PLAN ${text}`)
      const all: Statement['all'] = (...values) => {
        plans.push(...(plan.all(...values) as { detail: string }[]).map(({ detail }) => detail))
        return []
      }
      return { ...db.prepare(text), all }
    })
    return plans.join('\n')
  } finally {
    db.close()
    rmSync(folder, { recursive: true, force: true })
  }
}
