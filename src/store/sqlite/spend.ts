import { QUARTER_MS, type SpendRow } from '../../contract/spend.js'
import type { Store } from '../store.js'
import type { Statement } from './driver.js'

interface Row {
  quarter: number
  session_id: string
  project: string | null
  model: string
  steps: number
  input: number
  output: number
  cache_creation: number
  cache_read: number
  cost_usd: number | null
}

/** The store's part about what was spent when. */
export function spendRows(sql: (text: string) => Statement): Pick<Store, 'addSpend' | 'spend' | 'firstSpend'> {
  return {
    addSpend(s) {
      sql(
        `INSERT INTO spend (quarter, session_id, model, steps, input, output, cache_creation, cache_read, cost_usd)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT DO UPDATE SET steps = steps + excluded.steps, input = input + excluded.input, output = output + excluded.output,
           cache_creation = cache_creation + excluded.cache_creation, cache_read = cache_read + excluded.cache_read,
           cost_usd = CASE WHEN excluded.cost_usd IS NULL THEN cost_usd ELSE coalesce(cost_usd, 0) + excluded.cost_usd END`,
      ).run(
        ...[Math.floor(Date.parse(s.at) / QUARTER_MS), s.sessionId, s.model ?? ''],
        ...[s.steps, s.input, s.output, s.cacheCreation, s.cacheRead, s.costUsd],
      )
    },
    spend({ fromQuarter }) {
      const rows = sql(
        'SELECT spend.*, sessions.project FROM spend LEFT JOIN sessions USING (session_id) WHERE quarter >= ? ORDER BY quarter',
      ).all(fromQuarter) as Row[]
      return rows.map(rowOf)
    },
    firstSpend: () => (sql('SELECT min(quarter) AS quarter FROM spend').get() as { quarter: number | null }).quarter,
  }
}

function rowOf(row: Row): SpendRow {
  return {
    quarter: row.quarter,
    sessionId: row.session_id,
    project: row.project,
    model: row.model === '' ? null : row.model,
    steps: row.steps,
    input: row.input,
    output: row.output,
    cacheCreation: row.cache_creation,
    cacheRead: row.cache_read,
    costUsd: row.cost_usd,
  }
}
