import { createRequire } from 'node:module'
import { join } from 'node:path'

const { DatabaseSync } = createRequire(import.meta.url)('@photostructure/sqlite')

/** Reads a store after all processes have closed it. */
export function lookInto(batonHome) {
  const db = new DatabaseSync(join(batonHome, 'baton.db'))
  const all = (sql) => db.prepare(sql).all()
  const events = (type) => all(`SELECT session_id, data FROM events WHERE type = '${type}' ORDER BY id`)
  const seen = {
    integrity: all('PRAGMA integrity_check')
      .map((row) => row.integrity_check)
      .join('; '),
    taken: all('SELECT signal_id FROM taken').map((row) => row.signal_id.split(' ').at(-1)),
    /** An entry for each reported level of a session: `<session> <cycle> <level>`. */
    crossings: events('level_crossed').map(({ session_id, data }) => {
      const { cycle, level } = JSON.parse(data)
      return `${session_id} ${cycle} ${level}`
    }),
    warnings: events('context_warning').flatMap(({ session_id, data }) =>
      JSON.parse(data).levels.map((level) => `${session_id} ${level}`),
    ),
    sessions: all('SELECT body FROM sessions').map((row) => JSON.parse(row.body)),
    readings: all("SELECT count(*) AS n FROM events WHERE type = 'reading'")[0].n,
  }
  db.close()
  return seen
}

export const repeated = (list) => list.filter((one, i) => list.indexOf(one) !== i)
