import { chmodSync, existsSync, statSync } from 'node:fs'
import { BatonError, reasonOf } from '../../lib/errors.js'
import { broken, bytesText, type Finding, fine, mends } from './finding.js'
import type { Patient, RawDatabase } from './patient.js'

const BUSY_MS = 2_000
/** A larger store would keep a person waiting: then only the tables without which nothing works are looked through. */
const WHOLE_CHECK = 256_000_000
const VITAL = ['sessions', 'seats', 'messages', 'switches']
/** Whether what was measured can be read and more can be written. Nothing is ever mended here: it is the person's data. */
export function checkStore(patient: Patient): Finding {
  const { home, instruments, env } = patient
  const path = home.store
  if (!existsSync(path)) return fine(`${path} does not exist yet; the first signal makes it.`)
  const modes = judgeFile(path)
  if (modes) return modes
  try {
    // The house looks before SQLite touches the file, and has a sentence for most of what can be wrong.
    const house = instruments.openHouse(env)
    try {
      const trouble = inspect(instruments.openDatabase(path, { readOnly: true, timeout: BUSY_MS }), statSync(path).size)
      if (trouble) return broken(`The store ${path} is damaged (${trouble}).`, aside(path))
      tryWriting(instruments.openDatabase(path, { timeout: BUSY_MS }))
      return fine(told(path, house.store.sizes()))
    } finally {
      house.close()
    }
  } catch (error) {
    if (error instanceof BatonError) return broken(error.message, error.hint)
    return broken(`The store ${path} cannot be used (${reasonOf(error)}).`, aside(path))
  }
}

function judgeFile(path: string): Finding | null {
  const { mode, uid } = statSync(path)
  const shown = (mode & 0o777).toString(8).padStart(3, '0')
  const mine = process.getuid?.() ?? uid
  if (uid !== mine) return broken(`The store ${path} belongs to another user (uid ${uid}).`, `Run sudo chown ${mine} '${path}'.`)
  const repair = (): void => chmodSync(path, 0o600)
  if ((mode & 0o600) !== 0o600)
    return broken(`The store ${path} is read-only (mode ${shown}): nothing new is kept.`, mends('gives it mode 600'), repair)
  if (mode & 0o077) return broken(`Others can read the store ${path} (mode ${shown}).`, mends('gives it mode 600'), repair)
  return null
}

const aside = (path: string) => `Move it aside (mv '${path}' '${path}.damaged'); a new store is made. Baton never removes it.`

/** null: whole, as far as was looked. */
function inspect(db: RawDatabase, size: number): string | null {
  try {
    const checks = size > WHOLE_CHECK ? VITAL.map((table) => `PRAGMA quick_check('${table}')`) : ['PRAGMA quick_check(1)']
    for (const check of checks) {
      const [row] = db.prepare(check).all() as Record<string, unknown>[]
      const said = String(Object.values(row ?? {})[0])
      if (said !== 'ok') return said.replace(/\s+/g, ' ').slice(0, 200)
    }
    return null
  } finally {
    db.close()
  }
}

/** Takes the lock every signal takes, and gives it back with nothing written. */
function tryWriting(db: RawDatabase): void {
  try {
    db.exec('BEGIN IMMEDIATE')
    db.exec('ROLLBACK')
  } finally {
    db.close()
  }
}

function told(
  path: string,
  {
    sessions,
    readings,
    events,
    messages,
    bytes,
  }: { sessions: number; readings: number; events: number; messages: number; bytes: number },
): string {
  const wal = statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  return `${path}, ${bytesText(bytes)}${wal > 0 ? ` and ${bytesText(wal)} on the way` : ''}: ${sessions} sessions, ${readings} readings, ${events} events, ${messages} messages.`
}
