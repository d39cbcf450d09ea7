import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { openDatabase } from './driver.js'
import { bundleChild } from './fixtures/bundle-child.js'
import { MIGRATIONS } from './migrations.js'
import { openStore } from './sqlite.js'

let bundle: string
let folder: string
let path: string
beforeAll(async () => {
  bundle = await bundleChild()
})
afterAll(() => rmSync(dirname(bundle), { recursive: true, force: true }))
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-store-'))
  path = join(folder, 'state', 'baton.db')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

interface Ended {
  code: number | null
  signal: string | null
  stdout: string
  stderr: string
}

function start(...args: string[]): { child: ChildProcess; ended: Promise<Ended> } {
  const child = spawn(process.execPath, [bundle, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const out = { stdout: '', stderr: '' }
  child.stdout!.on('data', (chunk) => (out.stdout += chunk))
  child.stderr!.on('data', (chunk) => (out.stderr += chunk))
  return {
    child,
    ended: new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal, ...out }))),
  }
}

function integrity(): unknown {
  const db = openDatabase(path)
  const found = db.prepare('PRAGMA integrity_check').all()
  db.close()
  return found
}

test('eight processes with twenty writes each lose no write and leave no extra file', async () => {
  const children = Array.from({ length: 8 }, () => start('write', path, '20'))
  const ended = await Promise.all(children.map((one) => one.ended))
  expect(ended.filter((one) => one.code !== 0 || one.stderr !== '')).toEqual([])
  const store = openStore(path)
  expect(store.session('s1')?.spend.answers).toBe(160)
  const told = store.events().map((event) => event.data.answers)
  expect(told).toEqual(Array.from({ length: 160 }, (_, n) => n + 1))
  store.close()
  // The -shm and -wal files are SQLite's own and belong to an open store.
  expect(readdirSync(join(folder, 'state'))).toEqual(['baton.db', 'baton.db-shm', 'baton.db-wal'])
})

test('eight processes that store ten briefs each of one seat use every sequence number exactly once', async () => {
  const ended = await Promise.all(Array.from({ length: 8 }, () => start('briefs', path, '10').ended))
  expect(ended.filter((one) => one.code !== 0 || one.stderr !== '')).toEqual([])
  const all = Array.from({ length: 80 }, (_, n) => n + 1)
  const said = ended.flatMap(({ stdout }) => stdout.split('\n').slice(0, -2).map(Number))
  expect(said.sort((a, b) => a - b)).toEqual(all)
  const store = openStore(path)
  expect(store.briefs({ seatId: 'seat_1' }).map(({ sequence }) => sequence)).toEqual(all)
  store.close()
})

test('processes that create the same new store at the same time all get it, migrated once', async () => {
  for (let round = 0; round < 2; round++) {
    path = join(folder, `round-${round}`, 'baton.db')
    const ended = await Promise.all(Array.from({ length: 6 }, () => start('open', path).ended))
    expect(ended.map((one) => [one.code, one.stdout, one.stderr])).toEqual(Array(6).fill([0, 'done\n', '']))
    const db = openDatabase(path)
    expect(db.prepare('PRAGMA user_version').get()).toEqual({ user_version: MIGRATIONS.length })
    expect(db.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' })
    db.close()
  }
})

test.each([
  ['inside a transaction', 'end-inside', 0],
  ['right after a commit', 'end-after', 1],
])('a process killed %s leaves an intact store with every committed write', async (_, moment, more) => {
  for (let round = 0; round < 2; round++) {
    const { stdout, signal, stderr } = await start(moment, path, '10').ended
    expect([signal, stderr]).toEqual(['SIGKILL', ''])
    const said = Number(stdout.split('\n').at(-2))
    expect(said).toBe(round * (10 + more) + 10)
    expect(integrity()).toEqual([{ integrity_check: 'ok' }])
    const store = openStore(path)
    expect(store.session('s1')!.spend.answers).toBe(said + more)
    expect(store.events({ limit: 1 })[0]?.data.answers).toBe(said + more)
    store.close()
  }
})

test('a process killed after any migration leaves a store that the next process migrates', async () => {
  for (let migrations = 0; migrations <= MIGRATIONS.length; migrations++) {
    path = join(folder, `killed-after-${migrations}`, 'baton.db')
    const { signal, stderr } = await start('end-making', path, String(migrations)).ended
    expect([signal, stderr]).toEqual(['SIGKILL', ''])
    const store = openStore(path)
    store.addEvent({ type: 'reading', at: '', session_id: null, seat_id: null, job_id: null, data: {} })
    store.close()
    expect(integrity()).toEqual([{ integrity_check: 'ok' }])
  }
})
