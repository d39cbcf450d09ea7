import { appendFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { onTestFinished } from 'vitest'
import { type ArchivesDependencies, makeArchives } from '../archive/archive.js'
import { archivePaths } from '../archive/archive-folders.js'
import { readSimpleLine } from '../archive/fixtures/simple-line.js'
import { planArchive } from '../archive/plan-archive.js'
import { restoreArchive } from '../archive/restore-archive.js'
import type { ArchiveRecord, ArchiveTrigger } from '../contract/records/archive.js'
import { silentLog } from '../lib/log.js'
import { openStore } from '../store/sqlite/sqlite.js'

export const jsonLine = (value: object): string => `${JSON.stringify(value)}\n`

/** Creates an archive in its own folder for one test. */
export function createArchiveHome(changes: Partial<ArchivesDependencies> = {}) {
  const dir = mkdtempSync(join(tmpdir(), 'baton-archive-'))
  const root = join(dir, 'baton')
  const store = openStore(join(root, 'baton.db'), { busyMs: 20_000 })
  let ids = 0
  let now = Date.parse('2026-03-01T10:00:00.000Z')
  const deps: ArchivesDependencies = {
    store,
    root,
    now: () => new Date(now),
    newId: () => `${process.pid.toString(16)}${(++ids).toString(16).padStart(10, '0')}`,
    log: silentLog,
    readerOf: () => readSimpleLine,
    legacy: { agent: 'fixture', projectOfLine: () => null },
    ...changes,
  }
  const archives = makeArchives(deps)
  onTestFinished(() => {
    archives.close()
    store.close()
    rmSync(dir, { recursive: true, force: true })
  })
  const places = archivePaths(root)
  const path = (name: string): string => join(dir, 'transcripts', `${name}.jsonl`)
  const planDependencies = { ...deps, places, micros: () => 7 }

  return {
    dir,
    root,
    store,
    places,
    deps,
    archives,
    path,
    /** Advances the clock. */
    pass: (ms: number) => {
      now += ms
    },
    /** Appends to a transcript and creates it if needed. */
    write(name: string, text: string | Buffer): string {
      mkdirSync(dirname(path(name)), { recursive: true })
      appendFileSync(path(name), text)
      return path(name)
    },
    overwrite: (name: string, text: string | Buffer) => writeFileSync(path(name), text),
    plan(
      sessionId: string,
      options: {
        trigger?: ArchiveTrigger
        transcript?: string | null
        subagents?: string[]
        bytes?: number
        project?: string
        title?: string
      } = {},
    ): ArchiveRecord | null {
      now += 1
      return store.transaction(() =>
        planArchive(planDependencies, {
          sessionId,
          agent: 'fixture',
          project: options.project ?? '/shop',
          ...(options.title === undefined ? {} : { title: options.title }),
          trigger: options.trigger ?? 'auto',
          transcript: options.transcript === undefined ? path(sessionId) : options.transcript,
          subagents: () => (options.subagents ?? []).map((name) => ({ name, path: path(name) })),
          ...(options.bytes === undefined ? {} : { bytes: options.bytes }),
        }),
      )
    },
    /** Plans and finishes an archive and returns its stored record. */
    keep(sessionId: string, options: Parameters<typeof this.plan>[1] = {}): ArchiveRecord {
      const planned = this.plan(sessionId, options)!
      archives.finish()
      return store.archive(planned.archiveId)!
    },
    /** Returns the bytes that an archive unpacks to. */
    restored(record: ArchiveRecord, part = 0): Buffer {
      const to = join(dir, `restored-${record.archiveId}-${part}-${Math.random()}`)
      const kept = store.archive(record.archiveId)!.parts[part]!
      restoreArchive(archives.blocks, { part: kept, segments: archives.segments(kept.streamId), to, force: false })
      return readFileSync(to)
    },
    files: (): string[] => readdirSync(places.folder).filter((name) => name.includes('.')),
    links: (): string[] => readdirSync(places.links),
  }
}

export type ArchiveHome = ReturnType<typeof createArchiveHome>
