import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { callGate, faultGate } from '../../test/harness/gate.js'
import type { ArchiveRecord } from '../contract/records/archive.js'
import { silentLog } from '../lib/log.js'
import { openStore } from '../store/sqlite/sqlite.js'
import { type Archives, makeArchives } from './archive.js'
import { bundleChild } from './fixtures/bundle-child.js'
import { readSimpleLine } from './fixtures/simple-line.js'
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

function start(
  args: string[],
  env: Record<string, string> = {},
): {
  child: ChildProcess
  ended: Promise<{ code: number | null; out: string; err: string }>
} {
  const child = spawn(process.execPath, [bundle, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  })
  const told = { out: '', err: '' }
  child.stdout!.on('data', (chunk) => (told.out += chunk))
  child.stderr!.on('data', (chunk) => (told.err += chunk))
  return { child, ended: new Promise((resolve) => child.on('close', (code) => resolve({ code, ...told }))) }
}

function transcript(name: string, bytes: number): string {
  const path = join(folder, `${name}.jsonl`)
  const lines: string[] = []
  for (let size = 0; size < bytes; size += 20_000)
    lines.push(JSON.stringify({ out: randomBytes(10_000).toString('hex') }))
  writeFileSync(path, `${JSON.stringify({ by: 'user', text: `hello from ${name}` })}\n${lines.join('\n')}\n`)
  return path
}

/** Opens the store and the archives after all processes have ended. */
function withArchives<T>(work: (archives: Archives, records: ArchiveRecord[]) => T): T {
  const store = openStore(join(root, 'baton.db'))
  const newId = (): string => randomBytes(8).toString('hex')
  const archives = makeArchives({
    store,
    root,
    now: () => new Date(),
    newId,
    log: silentLog,
    readerOf: () => readSimpleLine,
    legacy: { agent: 'fixture', projectOfLine: () => null },
  })
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
  return existsSync(archive) ? readdirSync(archive).filter((name) => name.includes('.')) : []
}

describe('killing a process', () => {
  const moments: [name: string, gate: (folder: string) => ReturnType<typeof callGate>][] = [
    ['after it linked the transcript', (at) => callGate(at, 'linkSync', /pending/)],
    ['while it wrote a segment', (at) => faultGate(at, 'ARCHIVE_SEGMENT')],
    ['after it renamed the file', (at) => callGate(at, 'renameSync', /archive\/\./)],
    ['after it deleted the link', (at) => callGate(at, 'rmSync', /pending/)],
    ['while it indexed the archive', (at) => callGate(at, 'openSync', /archive-index\.db/)],
  ]

  test.each(moments)(
    'a process killed %s leaves a complete or no archive, and the next process finishes it',
    async (_name, gateIn) => {
      const path = transcript('s1', 400_000)
      const bytes = readFileSync(path)
      const gate = gateIn(folder)
      const { child, ended } = start(['plan', root, 's1', path], gate.env)
      await gate.reached()
      child.kill('SIGKILL')
      await ended
      gate.open()

      withArchives((archives, records) => {
        for (const record of records) {
          if (record.status === 'kept') expect(restored(archives, record).equals(bytes)).toBe(true)
          else expect(record.status).toBe('pending')
        }
        expect(archives.verify(records).archives.filter(({ state }) => state !== 'whole')).toEqual([])
      })
      // Lines written later are not part of the archive.
      writeFileSync(path, '{"by":"user","text":"later"}\n', { flag: 'a' })
      const next = await start(['finish', root]).ended
      expect(next).toMatchObject({ code: 0, err: '' })
      withArchives((archives, records) => {
        for (const record of records) {
          expect(record).toMatchObject({ status: 'kept', indexed: true })
          expect(restored(archives, record).equals(bytes)).toBe(true)
        }
        expect(archives.verify(records)).toMatchObject({ extra: [] })
        if (records.length > 0) expect(archives.search({ query: 'hello', limit: 5 })).toHaveLength(1)
      })
      expect(visible().filter((name) => name.startsWith('.'))).toEqual([])
    },
  )
})

describe('many processes at the same time', () => {
  test('six sessions archived at the same moment are each kept once', async () => {
    const paths = Array.from({ length: 6 }, (_, i) => transcript(`s${i}`, 300_000))
    const ended = await Promise.all(paths.map((path, i) => start(['plan', root, `s${i}`, path]).ended))
    expect(ended.filter(({ code, err }) => code !== 0 || err !== '')).toEqual([])
    const told = ended.flatMap(({ out }) => out.split('\n').filter(Boolean))
    expect(new Set(told).size).toBe(told.length)
    await start(['finish', root]).ended
    withArchives((archives, records) => {
      expect(records).toHaveLength(6)
      for (const record of records) {
        expect(record.status).toBe('kept')
        expect(restored(archives, record).equals(readFileSync(record.parts[0]!.path!))).toBe(true)
      }
      expect(archives.search({ query: 'hello', limit: 50 })).toHaveLength(6)
    })
  })

  test('eight processes that archive one session share its bytes and lose nothing', async () => {
    const path = transcript('s1', 1_000_000)
    const bytes = readFileSync(path)
    const ended = await Promise.all(Array.from({ length: 8 }, () => start(['plan', root, 's1', path]).ended))
    expect(ended.filter(({ code, err }) => code !== 0 || err !== '')).toEqual([])
    await start(['finish', root]).ended
    withArchives((archives, records) => {
      expect(records).toHaveLength(8)
      for (const record of records) expect(restored(archives, record).equals(bytes)).toBe(true)
      expect(visible()).toHaveLength(1)
      expect(archives.verify(records)).toMatchObject({ extra: [] })
      expect(archives.search({ query: 'hello', limit: 50 })).toHaveLength(1)
    })
  })

  test('a session forgotten while it is copied stays forgotten', async () => {
    const path = transcript('s1', 200_000)
    const gate = faultGate(folder, 'ARCHIVE_SEGMENT')
    const keeping = start(['plan', root, 's1', path], gate.env)
    await gate.reached()
    expect(await start(['forget', root, 's1']).ended).toMatchObject({ code: 0, err: '' })
    gate.open()
    expect(await keeping.ended).toMatchObject({ code: 0 })
    await start(['finish', root]).ended
    withArchives((archives, records) => {
      expect(records).toEqual([])
      expect(archives.search({ query: 'hello', limit: 5 })).toEqual([])
    })
    expect(visible()).toEqual([])
    expect(readdirSync(join(root, 'archive', 'pending'))).toEqual([])
  })
})
