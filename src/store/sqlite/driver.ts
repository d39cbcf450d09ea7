/** The part of the `node:sqlite` API that Baton uses; both drivers offer it. */
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

/** Built in from Node 22; on Node 20 the package with the same API. The built-in one warns that it is experimental on stderr, which a hook must not. */
export function openDatabase(path: string, options: { readOnly?: boolean; timeout?: number } = {}): Database {
  const Sqlite = builtin() ?? packaged()
  return new Sqlite(path, options)
}

/** The same where full-text search is needed: Node's own SQLite came without it for a while, the package always has it. */
export function openSearchable(path: string, options: { timeout?: number } = {}): Database {
  const own = builtin()
  const Sqlite = own && hasFullText(own) ? own : packaged()
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

function builtin(): Opener | null {
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

function packaged(): Opener {
  // The literal call lets the bundler take the package in; outside a bundle there is no `require`.
  if (typeof require === 'function') return require('@photostructure/sqlite').DatabaseSync as Opener
  const { createRequire } = process.getBuiltinModule('node:module')
  return createRequire(import.meta.url)('@photostructure/sqlite').DatabaseSync as Opener
}

/** All of the work or nothing of it; what it throws is thrown on. */
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
      // SQLite rolls back by itself when the disk is full; there is nothing left to undo then.
      if (!/no transaction/i.test(String(failed))) throw failed
    }
    throw error
  }
}

/** Parses the `body` column of rows, which holds a record as JSON. */
export const bodies = <T>(rows: unknown[]): T[] => rows.map((row) => JSON.parse((row as { body: string }).body) as T)
