/** The part of the `node:sqlite` API that Baton uses. Both drivers offer it. */
export interface Statement {
  run(...values: unknown[]): { changes: number | bigint; lastInsertRowid: number | bigint }
  get(...values: unknown[]): unknown
  all(...values: unknown[]): unknown[]
}

export interface Database {
  exec(sql: string): void
  prepare(sql: string): Statement
  close(): void
}

type Opener = new (path: string, options?: { readOnly?: boolean; timeout?: number }) => Database

/**
 * Opens a database with Node's built-in SQLite, or on Node 20 with a package that has the same API.
 * The built-in SQLite prints an experimental warning to stderr, where a hook must print nothing.
 */
export function openDatabase(path: string, options: { readOnly?: boolean; timeout?: number } = {}): Database {
  const Sqlite = builtinSqlite() ?? packagedSqlite()
  return new Sqlite(path, options)
}

/**
 * Opens a database with full-text search.
 * Some Node versions were built without FTS5, so the package is the fallback.
 */
export function openFullTextDatabase(path: string, options: { timeout?: number } = {}): Database {
  const own = builtinSqlite()
  const Sqlite = own && hasFullText(own) ? own : packagedSqlite()
  return new Sqlite(path, options)
}

function hasFullText(Sqlite: Opener): boolean {
  const db = new Sqlite(':memory:')
  try {
    db.exec("CREATE VIRTUAL TABLE words USING fts5(text, content='', contentless_delete=1)")
    return true
  } catch {
    return false
  } finally {
    db.close()
  }
}

function builtinSqlite(): Opener | null {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
  if (major < 22 || (major === 22 && minor < 13)) return null
  const warn = process.emitWarning
  process.emitWarning = () => {}
  try {
    const module = process.getBuiltinModule('node:sqlite' as 'node:fs') as unknown as { DatabaseSync: Opener }
    return module.DatabaseSync
  } finally {
    process.emitWarning = warn
  }
}

function packagedSqlite(): Opener {
  // The literal `require` call makes the bundler include the package.
  // Outside a bundle `require` does not exist.
  if (typeof require === 'function') return require('@photostructure/sqlite').DatabaseSync as Opener
  const { createRequire } = process.getBuiltinModule('node:module')
  return createRequire(import.meta.url)('@photostructure/sqlite').DatabaseSync as Opener
}

/** Runs `work` in a transaction. Rolls back and rethrows when `work` throws. */
export function inTransaction<T>(db: Database, work: () => T): T {
  db.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } catch (error) {
    try {
      db.exec('ROLLBACK')
    } catch (failed) {
      // SQLite rolls back by itself when the disk is full, so nothing is left to undo.
      if (!/no transaction/i.test(String(failed))) throw failed
    }
    throw error
  }
}

/** Parses the `body` column of rows, which holds a record as JSON. */
export const parseBodies = <T>(rows: unknown[]): T[] =>
  rows.map((row) => JSON.parse((row as { body: string }).body) as T)
