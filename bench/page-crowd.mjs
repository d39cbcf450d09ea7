// Test data for measuring the page: hundreds of sessions, one of them with many readings.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { bundleSource } from './from-source.mjs'
import { statusLine } from './samples.mjs'

const { DatabaseSync } = createRequire(import.meta.url)('@photostructure/sqlite')

/** Number of readings per cycle, and seconds between two readings. */
const [CLIMB, STEP] = [500, 5]

export const idOf = (n) => `${String(n).padStart(8, '0')}-0000-4000-8000-000000000000`
/** Fullness of the sessions, from nearly empty to nearly full. */
export const usedBy = (n) => 20_000 + ((n * 317) % 140_000)
export const folderOf = (n) => `/srv/project-${String(n).padStart(3, '0')}`

/**
 * Makes working sessions, each in its own project. The first one has `readings` stored readings.
 */
export async function fillCrowd(machine, { sessions, readings }) {
  const { openApp, loadConfig } = await import(await bundleSource(['engine/open-engine.ts', 'config/load-config.ts']))
  const app = openApp({ env: machine.env, loadConfig, resident: true })
  const take = (kind, body) => ({
    raw: { agent: 'claude-code', kind, body, env: {}, at: Date.now() },
    options: { deliver: 'keep' },
  })
  const signals = Array.from({ length: sessions }, (_, n) => {
    const about = { session_id: idOf(n), cwd: folderOf(n), transcript_path: '/nowhere.jsonl' }
    return [
      take('SessionStart', JSON.stringify({ ...about, hook_event_name: 'SessionStart', source: 'startup' })),
      take('UserPromptSubmit', JSON.stringify({ ...about, hook_event_name: 'UserPromptSubmit', prompt: 'Go on.' })),
      take('status-line', statusOf(n, usedBy(n))),
    ]
  }).flat()
  for (let n = 0; n < signals.length; n += 500) app.engine.takeAll(signals.slice(n, n + 500))
  app.close()
  fillReadings(join(machine.batonHome, 'baton.db'), idOf(0), readings)
}

export const statusOf = (n, used) =>
  statusLine({ sessionId: idOf(n), transcript: '/nowhere.jsonl', cwd: folderOf(n), used: Math.round(used) })

/**
 * Makes cycle after cycle up to now. Ids are negative, so that they come before all events of the
 * engine.
 */
function fillReadings(file, session, count) {
  const db = new DatabaseSync(file)
  const { seat_id } = db.prepare('SELECT seat_id FROM sessions WHERE session_id = ?').get(session)
  db.prepare(
    `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ? - 1),
       step AS (SELECT i, 20000 + 270 * (i % ${CLIMB}) + abs((i * 7919) % 400) AS used,
         strftime('%Y-%m-%dT%H:%M:%fZ', 'now', (${STEP} * (i - ?)) || ' seconds') AS at FROM n)
     INSERT INTO events (id, type, at, session_id, seat_id, data)
       SELECT i - ?, 'reading', at, ?, ?, json_object('used_tokens', used, 'window_tokens', 200000,
         'compaction_tokens', 167000, 'used_percent', used / 2000.0, 'compaction_percent', used / 1670.0,
         'model', 'claude-opus-4-6', 'source', 'status_line', 'exact', json('true'),
         'cycle', 1 + i / ${CLIMB}) FROM step`,
  ).run(count, count, count + 1, session, seat_id)
  db.close()
}
