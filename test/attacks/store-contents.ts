import { readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

const { DatabaseSync } = createRequire(import.meta.url)(
  '@photostructure/sqlite',
) as typeof import('@photostructure/sqlite')

/**
 * Returns each row of each table of a home and the names of all files, to compare before and after.
 */
export function storeContents(batonHome: string): unknown {
  const store = new DatabaseSync(path.join(batonHome, 'baton.db'), { readOnly: true })
  try {
    const tables = store.prepare("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").all()
    const rows = tables.map(({ name }) => [name, store.prepare(`SELECT * FROM "${name}"`).all()])
    // Write-ahead logs are created and removed by readers, so they are excluded.
    const files = readdirSync(batonHome, { recursive: true }).filter((name) => !/\.db-(wal|shm)$/.test(String(name)))
    return { tables: Object.fromEntries(rows), files: files.toSorted() }
  } finally {
    store.close()
  }
}
