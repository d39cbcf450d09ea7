import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
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
  return { child, ended: new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal, ...out }))) }
}

function integrity(): unknown {
  const db = openDatabase(path)
  const found = db.prepare('PRAGMA integrity_check').all()
  db.close()
  return found
}

it('twenty processes with twenty writes each: none is lost, and no file is left over', async () => {
  const children = Array.from({ length: 20 }, () => start('write', path, '20'))
  const ended = await Promise.all(children.map((one) => one.ended))
  expect(ended.filter((one) => one.code !== 0 || one.stderr !== '')).toEqual([])
  const store = openStore(path)
  expect(store.session('s1')?.spend.answers).toBe(400)
  const told = store.events().map((event) => event.data.answers)
  expect(told).toEqual(Array.from({ length: 400 }, (_, n) => n + 1))
  store.close()
  // The two beside it are SQLite's own and belong to it.
  expect(readdirSync(join(folder, 'state'))).toEqual(['baton.db', 'baton.db-shm', 'baton.db-wal'])
})

it('twenty processes with ten briefs each of one seat: every sequence is given once, and none is left out', async () => {
  const ended = await Promise.all(Array.from({ length: 20 }, () => start('briefs', path, '10').ended))
  expect(ended.filter((one) => one.code !== 0 || one.stderr !== '')).toEqual([])
  const all = Array.from({ length: 200 }, (_, n) => n + 1)
  const said = ended.flatMap(({ stdout }) => stdout.split('\n').slice(0, -2).map(Number))
  expect(said.sort((a, b) => a - b)).toEqual(all)
  const store = openStore(path)
  expect(store.briefs({ seatId: 'seat_1' }).map(({ sequence }) => sequence)).toEqual(all)
  store.close()
})

it('processes that make the same new store at once all get it, migrated once', async () => {
  for (let round = 0; round < 3; round++) {
    path = join(folder, `round-${round}`, 'baton.db')
    const ended = await Promise.all(Array.from({ length: 8 }, () => start('open', path).ended))
    expect(ended.map((one) => [one.code, one.stdout, one.stderr])).toEqual(Array(8).fill([0, 'done\n', '']))
    const db = openDatabase(path)
    expect(db.prepare('PRAGMA user_version').get()).toEqual({ user_version: MIGRATIONS.length })
    expect(db.prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'wal' })
    db.close()
  }
})

it('a process killed at any moment leaves a store that opens, whole, with everything it had said', async () => {
  let said = 0
  for (let round = 0; round < 12; round++) {
    const { child, ended } = start('hammer', path)
    await new Promise<void>((resolve) => child.stdout!.once('data', () => resolve()))
    await new Promise((resolve) => setTimeout(resolve, round * 7))
    child.kill('SIGKILL')
    const { stdout, signal } = await ended
    expect(signal).toBe('SIGKILL')
    said = Number(stdout.split('\n').at(-2))
    expect(integrity()).toEqual([{ integrity_check: 'ok' }])
    const store = openStore(path)
    const kept = store.session('s1')!.spend.answers
    expect(kept).toBeGreaterThanOrEqual(said)
    expect(store.events({ limit: 1 })[0]?.data.answers).toBe(kept)
    store.close()
  }
  expect(said).toBeGreaterThan(12)
})

it('a process killed while it makes the store leaves one that the next can make', async () => {
  for (const ms of [40, 60, 80, 100]) {
    path = join(folder, `killed-after-${ms}`, 'baton.db')
    const { child, ended } = start('open', path)
    setTimeout(() => child.kill('SIGKILL'), ms)
    await ended
    const store = openStore(path)
    store.addEvent({ type: 'reading', at: '', session_id: null, seat_id: null, job_id: null, data: {} })
    store.close()
    expect(integrity()).toEqual([{ integrity_check: 'ok' }])
  }
})
