import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  AT,
  sampleBrief,
  sampleEvent,
  sampleHandoff,
  sampleMessage,
  sampleSeat,
  sampleSession,
  sampleSubagent,
} from '../samples.cases.js'
import { openDatabase } from './driver.js'
import { MIGRATIONS } from './migrations.js'
import { openStore } from './sqlite.js'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-test-migrations-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('migrating a store of the first version keeps events and readings, and new ids continue to rise', () => {
  const path = join(folder, 'baton.db')
  const db = openDatabase(path)
  db.exec('PRAGMA journal_mode = WAL')
  db.exec(MIGRATIONS[0]!)
  const old =
    "INSERT INTO readings (session_id, cycle, at, used, window_tokens, point, model, source, exact) VALUES ('s1', 1"
  db.exec(`${old}, '2026-01-01T10:00:00.000Z', 50000, 200000, 167000, 'm', 'mod', 1)`)
  db.exec(`${old}, '2026-03-01T10:00:00.000Z', 60000, NULL, NULL, NULL, 'transcript', 0)`)
  db.exec(
    "INSERT INTO events (id, type, at, session_id, data) VALUES (7, 'session_started', '2026-01-01T09:00:00.000Z', " +
      "'s1', '{}')",
  )
  const data =
    '{"used_tokens":60000,"window_tokens":null,"compaction_tokens":null,"model":null,"source":"transcript",' +
    '"exact":false,"cycle":1}'
  db.exec(
    `INSERT INTO events (id, type, at, session_id, data) VALUES (9, 'reading', '2026-03-01T10:00:00.000Z', 's1', ` +
      `'${data}')`,
  )
  db.exec('PRAGMA user_version = 1')
  db.close()

  const store = openStore(path)
  expect(store.readings('s1')).toMatchObject([
    { used: 50_000, window: 200_000, point: 167_000, model: 'm', source: 'mod', exact: true, cycle: 1 },
    { used: 60_000, window: null, point: null, model: null, source: 'transcript', exact: false },
  ])
  expect(store.events().map(({ id, type }) => [id, type])).toEqual([
    [7, 'session_started'],
    [9, 'reading'],
  ])
  const next = store.addEvent({
    type: 'session_ended',
    at: '2026-03-02T10:00:00.000Z',
    session_id: 's1',
    seat_id: null,
    job_id: null,
    data: {},
  })
  expect(next.id).toBe(10)
  store.close()
})

test('migrating a store of the second version keeps its records and adds briefs and handoffs', () => {
  const path = join(folder, 'baton.db')
  const db = openDatabase(path)
  db.exec('PRAGMA journal_mode = WAL')
  for (const migration of MIGRATIONS.slice(0, 2)) db.exec(migration)
  db.exec('PRAGMA user_version = 2')
  const put = (table: string, row: Record<string, unknown>) =>
    db
      .prepare(`INSERT INTO ${table} (${Object.keys(row)}) VALUES (${Object.keys(row).map(() => '?')})`)
      .run(...Object.values(row))
  const body = (what: object) => ({ body: JSON.stringify(what) })
  const session = sampleSession('s1')
  put('sessions', {
    session_id: 's1',
    seat_id: 'seat_1',
    project: session.project,
    seen_at: AT,
    started_at: AT,
    ...body(session),
  })
  put('seats', { seat_id: 'seat_1', name: null, created_at: AT })
  put('events', { id: 41, type: 'level_crossed', at: AT, session_id: 's1', data: '{"level":"notice"}' })
  const message = sampleMessage('m1')
  put('messages', { message_id: 'm1', seat_id: 'seat_1', status: 'queued', queued_at: AT, ...body(message) })
  const compaction = { sessionId: 's1', startedAt: AT, facts: null, trouble: null }
  put('compactions', { session_id: 's1', started_at: AT, open: 1, ended: 0, ...body(compaction) })
  db.close()

  const store = openStore(path)
  expect([store.session('s1'), store.seat('seat_1')]).toEqual([session, sampleSeat('seat_1')])
  expect(store.events()).toMatchObject([{ id: 41, type: 'level_crossed', data: { level: 'notice' } }])
  expect(store.addEvent(sampleEvent('handoff_requested')).id).toBe(42)
  expect(store.openMessages('seat_1')).toEqual([message])
  expect(store.compacting()).toEqual(['s1'])
  expect([store.briefs(), store.openHandoffs(), store.nextBriefSequence('seat_1')]).toEqual([[], [], 1])
  store.transaction(() => {
    store.putBrief(sampleBrief('b1', 1))
    store.putHandoff(sampleHandoff('h1'))
  })
  expect([store.brief('b1'), store.handoff('h1')]).toEqual([sampleBrief('b1', 1), sampleHandoff('h1')])
  store.close()
})

test('earlier spend of sessions and subagents is dated once, to when they were last seen', () => {
  const path = join(folder, 'baton.db')
  const db = openDatabase(path)
  db.exec('PRAGMA journal_mode = WAL')
  for (const migration of MIGRATIONS.slice(0, 4)) db.exec(migration)
  db.exec('PRAGMA user_version = 4')
  const seen = '2026-03-01T10:20:00.000Z'
  const put = (id: string, what: object): void => {
    db.prepare('INSERT INTO sessions (session_id, seat_id, seen_at, started_at, body) VALUES (?, ?, ?, ?, ?)').run(
      ...[id, 'seat_1', seen, AT, JSON.stringify({ ...sampleSession(id), ...what })],
    )
  }
  put('s1', {})
  put('silent', { spend: { input: 0, cacheCreation: 0, cacheRead: 0, output: 0, answers: 0 }, costUsd: null })
  const subagent = { ...sampleSubagent('s1', 'a1', 5), model: 'claude-opus-4-6', updatedAt: seen }
  db.prepare('INSERT INTO subagents VALUES (?, ?, ?, ?)').run('s1', 'a1', seen, JSON.stringify(subagent))
  db.close()
  for (let open = 0; open < 2; open++) {
    const store = openStore(path)
    const { spend } = subagent
    expect(store.spend({ fromQuarter: 0 })).toEqual([
      {
        quarter: Math.floor(Date.parse(seen) / 900_000),
        sessionId: 's1',
        project: null,
        model: 'claude-opus-4-6',
        steps: 5,
        input: 1 + spend.input,
        output: 4 + spend.output,
        cacheCreation: 2 + spend.cacheCreation,
        cacheRead: 3 + spend.cacheRead,
        costUsd: 0.123456789,
      },
    ])
    store.close()
  }
})

test('migrating a store marks active sessions as active and ended ones as over', () => {
  const path = join(folder, 'baton.db')
  const db = openDatabase(path)
  db.exec('PRAGMA journal_mode = WAL')
  for (const migration of MIGRATIONS.slice(0, 5)) db.exec(migration)
  db.exec('PRAGMA user_version = 5')
  for (const state of ['idle', 'ended', 'unknown', 'working'] as const)
    db.prepare('INSERT INTO sessions (session_id, seat_id, seen_at, started_at, body) VALUES (?, ?, ?, ?, ?)').run(
      ...[state, 'seat_1', AT, AT, JSON.stringify(sampleSession(state, { state }))],
    )
  db.close()
  const store = openStore(path)
  expect(store.sessions({ active: 'only' }).map(({ sessionId }) => sessionId)).toEqual(['idle', 'working'])
  expect(store.seenSince(AT)).toHaveLength(4)
  store.close()
})
