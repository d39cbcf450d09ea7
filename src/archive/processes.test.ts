import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ArchiveRecord } from '../contract/archive.js'
import { silentLog } from '../lib/log.js'
import { openStore } from '../store/sqlite/sqlite.js'
import { type Archives, makeArchives } from './archive.js'
import { bundleChild } from './fixtures/bundle-child.js'
import { readTrialLine } from './fixtures/trial-line.js'
import { restoreArchive } from './restore-archive.js'

let bundle: string
let folder: string
let root: string
beforeAll(async () => {
  bundle = await bundleChild()
})
afterAll(() => rmSync(dirname(bundle), { recursive: true, force: true }))
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'baton-archive-'))
  root = join(folder, 'baton')
  mkdirSync(root)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function start(...args: string[]): { child: ChildProcess; ended: Promise<{ code: number | null; out: string; err: string }> } {
  const child = spawn(process.execPath, [bundle, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  const told = { out: '', err: '' }
  child.stdout!.on('data', (chunk) => (told.out += chunk))
  child.stderr!.on('data', (chunk) => (told.err += chunk))
  return { child, ended: new Promise((resolve) => child.on('close', (code) => resolve({ code, ...told }))) }
}

function transcript(name: string, bytes: number): string {
  const path = join(folder, `${name}.jsonl`)
  const lines: string[] = []
  for (let size = 0; size < bytes; size += 20_000) lines.push(JSON.stringify({ out: randomBytes(10_000).toString('hex') }))
  writeFileSync(path, `${JSON.stringify({ by: 'user', text: `hello from ${name}` })}\n${lines.join('\n')}\n`)
  return path
}

/** Looks at everything after the processes are gone. */
function look<T>(work: (archives: Archives, records: ArchiveRecord[]) => T): T {
  const store = openStore(join(root, 'baton.db'))
  const newId = (): string => randomBytes(8).toString('hex')
  const archives = makeArchives({ store, root, now: () => new Date(), newId, log: silentLog, readerOf: () => readTrialLine })
  try {
    return work(archives, store.archives())
  } finally {
    archives.close()
    store.close()
  }
}

function restored(archives: Archives, record: ArchiveRecord): Buffer {
  const part = record.parts[0]!
  const to = join(folder, `restored-${record.archiveId}`)
  restoreArchive(archives.blocks, { part, segments: archives.segments(part.streamId), to, force: true })
  return readFileSync(to)
}

const visible = (): string[] => {
  const archive = join(root, 'archive')
  return existsSync(archive) ? readdirSync(archive).filter((name) => name !== 'pending') : []
}

describe('a process that is killed', () => {
  const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
  /** What lies in the archive folder tells how far a process has come. */
  const moments: [name: string, reached: () => boolean][] = [
    ['before it began', () => true],
    ['when the transcript is linked', () => existsSync(join(root, 'archive', 'pending')) && links().length > 0],
    ['while it writes', () => visible().some((name) => name.startsWith('.'))],
    ['when the file has its name', () => visible().some((name) => !name.startsWith('.'))],
    ['when the link is gone', () => visible().some((name) => !name.startsWith('.')) && links().length === 0],
    ['while it makes it searchable', () => existsSync(join(root, 'archive-index.db-wal'))],
  ]
  const links = (): string[] => readdirSync(join(root, 'archive', 'pending'))

  it.each(moments)('%s leaves an archive that is whole or absent, and the next process finishes it', async (_name, reached) => {
    const path = transcript('s1', 12_000_000)
    const bytes = readFileSync(path)
    const { child, ended } = start('plan', root, 's1', path)
    let over = false
    void ended.then(() => {
      over = true
    })
    while (!over && !reached()) await pause(1)
    child.kill('SIGKILL')
    await ended

    look((archives, records) => {
      for (const record of records) {
        if (record.status === 'kept') expect(restored(archives, record).equals(bytes)).toBe(true)
        else expect(record.status).toBe('pending')
      }
      expect(archives.verify(records).archives.filter(({ state }) => state !== 'whole')).toEqual([])
    })
    // Whatever is written afterwards is no part of it.
    writeFileSync(path, '{"by":"user","text":"later"}\n', { flag: 'a' })
    const next = await start('finish', root).ended
    expect(next).toMatchObject({ code: 0, err: '' })
    look((archives, records) => {
      for (const record of records) {
        expect(record).toMatchObject({ status: 'kept', indexed: true })
        expect(restored(archives, record).equals(bytes)).toBe(true)
      }
      expect(archives.verify(records)).toMatchObject({ extra: [] })
      if (records.length > 0) expect(archives.search({ query: 'hello', limit: 5 })).toHaveLength(1)
    })
    expect(visible().filter((name) => name.startsWith('.'))).toEqual([])
  })

  it('again and again, at any moment, never leaves half of anything', async () => {
    const path = transcript('s1', 6_000_000)
    const bytes = readFileSync(path)
    const planned = start('plan', root, 's1', path)
    await pause(60)
    planned.child.kill('SIGKILL')
    await planned.ended
    for (let i = 0; i < 12; i++) {
      const { child, ended } = start('finish', root)
      await pause(30 + i * 12)
      child.kill('SIGKILL')
      await ended
    }
    await start('finish', root).ended
    await start('plan', root, 's1', path).ended
    look((archives, records) => {
      expect(records.length).toBeGreaterThan(0)
      for (const record of records) expect(restored(archives, record).equals(bytes)).toBe(true)
      expect(archives.verify(records)).toMatchObject({ extra: [] })
      expect(archives.search({ query: 'hello', limit: 5 })).toHaveLength(1)
    })
  })
})

describe('many processes at once', () => {
  it('ten sessions at the same moment are all kept, each once', async () => {
    const paths = Array.from({ length: 10 }, (_, i) => transcript(`s${i}`, 400_000))
    const ended = await Promise.all(paths.map((path, i) => start('plan', root, `s${i}`, path).ended))
    expect(ended.filter(({ code, err }) => code !== 0 || err !== '')).toEqual([])
    const told = ended.flatMap(({ out }) => out.split('\n').filter(Boolean))
    expect(new Set(told).size).toBe(told.length)
    await start('finish', root).ended
    look((archives, records) => {
      expect(records).toHaveLength(10)
      for (const record of records) {
        expect(record.status).toBe('kept')
        expect(restored(archives, record).equals(readFileSync(record.parts[0]!.path))).toBe(true)
      }
      expect(archives.search({ query: 'hello', limit: 50 })).toHaveLength(10)
    })
  })

  it('twenty processes that archive one session share its bytes and lose nothing', async () => {
    const path = transcript('s1', 2_000_000)
    const bytes = readFileSync(path)
    const ended = await Promise.all(Array.from({ length: 20 }, () => start('plan', root, 's1', path).ended))
    expect(ended.filter(({ code, err }) => code !== 0 || err !== '')).toEqual([])
    await start('finish', root).ended
    look((archives, records) => {
      expect(records).toHaveLength(20)
      for (const record of records) expect(restored(archives, record).equals(bytes)).toBe(true)
      expect(visible()).toHaveLength(1)
      expect(archives.verify(records)).toMatchObject({ extra: [] })
      expect(archives.search({ query: 'hello', limit: 50 })).toHaveLength(1)
    })
  })

  it('a session forgotten while it is being kept stays forgotten', async () => {
    const path = transcript('s1', 20_000_000)
    const keeping = start('plan', root, 's1', path)
    while (!visible().some((name) => name.startsWith('.'))) await new Promise((resolve) => setTimeout(resolve, 1))
    expect(await start('forget', root, 's1').ended).toMatchObject({ code: 0, err: '' })
    expect(await keeping.ended).toMatchObject({ code: 0 })
    await start('finish', root).ended
    look((archives, records) => {
      expect(records).toEqual([])
      expect(archives.search({ query: 'hello', limit: 5 })).toEqual([])
    })
    expect(visible()).toEqual([])
    expect(readdirSync(join(root, 'archive', 'pending'))).toEqual([])
  })
})
