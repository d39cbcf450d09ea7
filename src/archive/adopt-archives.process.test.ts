import { spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { silentLog } from '../lib/log.js'
import { openStore } from '../store/sqlite/sqlite.js'
import type { Store } from '../store/store.js'
import { createArchiveHome, jsonLine } from '../testing/archive-home.js'
import { type Archives, makeArchives } from './archive.js'
import { bundleChild } from './fixtures/bundle-child.js'
import { readSimpleLine } from './fixtures/simple-line.js'

let bundle: string
beforeAll(async () => {
  bundle = await bundleChild()
})
afterAll(() => rmSync(dirname(bundle), { recursive: true, force: true }))

function run(...args: string[]): Promise<{ code: number | null; signal: string | null; out: string; err: string }> {
  const child = spawn(process.execPath, [bundle, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk) => {
    out += chunk
  })
  child.stderr.on('data', (chunk) => {
    err += chunk
  })
  return new Promise((resolve) => child.on('close', (code, signal) => resolve({ code, signal, out, err })))
}

const SESSIONS = ['s1', 's2', 's3']

/**
 * Returns a function that creates homes without a store, each with two archives of every session.
 * `records` says whether their record files exist.
 */
function makeLostStores(records: boolean): () => { root: string; remove(): void } {
  const fixture = createArchiveHome()
  for (const session of SESSIONS)
    for (const text of ['first', 'second']) {
      fixture.write(session, jsonLine({ by: 'user', text: `${text} of ${session}` }))
      fixture.keep(session)
    }
  if (!records) rmSync(fixture.places.records, { recursive: true })
  return () => {
    const dir = mkdtempSync(join(tmpdir(), 'baton-archive-'))
    cpSync(fixture.places.folder, join(dir, 'baton', 'archive'), { recursive: true })
    return { root: join(dir, 'baton'), remove: () => rmSync(dir, { recursive: true, force: true }) }
  }
}

/** Opens the archives of a home in this process. */
function withArchives<T>(root: string, work: (archives: Archives, store: Store) => T): T {
  const store = openStore(join(root, 'baton.db'))
  const archives = makeArchives({
    store,
    root,
    now: () => new Date(),
    newId: () => crypto.randomUUID().replaceAll('-', '').slice(0, 16),
    log: silentLog,
    readerOf: () => readSimpleLine,
    legacy: { agent: 'fixture', projectOfLine: () => null },
  })
  try {
    return work(archives, store)
  } finally {
    archives.close()
    store.close()
  }
}

/** Reads everything that must be equal however often adopt was killed or run concurrently. */
const readHome = (root: string) =>
  withArchives(root, (archives, store) => ({
    archives: store.archives(),
    segments: store.segments(),
    damaged: archives.verify(store.archives()).archives.filter(({ state }) => state !== 'whole'),
    hits: archives.search({ query: 'second', limit: 50 }).length,
    records: readdirSync(join(root, 'archive', 'records')).sort(),
    unknown: archives.countUnknown(),
  }))

test.each([true, false])(
  'adopt killed at any step is completed by the next run (record files: %s)',
  async (records) => {
    const lostStore = makeLostStores(records)
    const whole = lostStore()
    const copies = join(dirname(whole.root), 'copies')
    // A process killed before a step leaves the files as they are then.
    expect(await run('adopt', whole.root, '0', copies)).toMatchObject({ code: 0, err: '' })
    const expected = readHome(whole.root)
    expect(expected).toMatchObject({ damaged: [], hits: 3, unknown: 0 })
    expect([expected.archives.length, expected.records.length]).toEqual([6, 6])
    const states = readdirSync(copies).map((name) => join(copies, name))
    expect(states.length).toBeGreaterThan(6)
    const killed = lostStore()
    expect(await run('adopt', killed.root, String(Math.ceil(states.length / 2)))).toMatchObject({ signal: 'SIGKILL' })
    for (const root of [...states, killed.root]) {
      expect(withArchives(root, (archives) => archives.adopt()).skipped, root).toEqual([])
      expect(readHome(root), root).toEqual(expected)
    }
    for (const { remove } of [whole, killed]) remove()
  },
)

test.each([true, false])(
  'eight processes that adopt at the same time store each archive once (record files: %s)',
  async (records) => {
    const { root, remove } = makeLostStores(records)()
    const ended = await Promise.all(Array.from({ length: 8 }, () => run('adopt', root)))
    expect(ended.filter(({ code, err }) => code !== 0 || err !== '')).toEqual([])
    const adopted = ended.map(({ out }) => JSON.parse(out).adopted as number)
    expect(adopted.reduce((sum, count) => sum + count, 0)).toBe(6)
    expect(readHome(root)).toMatchObject({ damaged: [], hits: 3, unknown: 0 })
    expect(readHome(root).archives).toHaveLength(6)
    remove()
  },
)

test('adopt does not block on a pipe in place of a segment or record, and adopts the rest', async () => {
  const { root, remove } = makeLostStores(true)()
  const archive = join(root, 'archive')
  const stems = readdirSync(join(archive, 'records')).map((name) => name.slice(0, -'.json'.length))
  for (const path of [join(archive, `${stems[1]}.jsonl.br`), join(archive, 'records', `${stems[5]}.json`)]) {
    rmSync(path)
    expect(spawnSync('mkfifo', [path]).status).toBe(0)
  }
  const { code, out } = await run('adopt', root)
  const { adopted, skipped } = JSON.parse(out)
  expect([code, adopted]).toEqual([0, 5])
  expect(skipped.filter(({ reason }: { reason: string }) => reason === 'it is not a regular file')).toHaveLength(2)
  remove()
})
