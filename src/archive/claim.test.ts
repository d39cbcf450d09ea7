import { readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { silentLog } from '../lib/log.js'
import { type ArchiveHome, createArchiveHome, jsonLine } from '../testing/archive-home.js'
import { pidNamespaceId } from './archive.js'
import { claimArchive, type FinishDependencies, finishArchives } from './finish-archives.js'
import { removeTemporary, temporaryName } from './temporary-files.js'

const TEXT = jsonLine({ by: 'user', text: 'hello' })
const MINUTE = 60_000

/** Starts a process that keeps archives. Processes in another namespace see it as dead. */
function startWorker(
  { deps, places, store }: ArchiveHome,
  where: string,
  changes: Partial<FinishDependencies> = {},
): FinishDependencies {
  const self = { pid: 7, startedAt: '100', where }
  return { store, places, self, now: deps.now, newId: deps.newId, log: silentLog, isAlive: () => false, ...changes }
}

function planArchives() {
  const fixture = createArchiveHome()
  fixture.write('s1', TEXT)
  const { archiveId } = fixture.plan('s1')!
  return { fixture, record: () => fixture.store.archive(archiveId)! }
}

describe('the lease of an archive', () => {
  test('a lease from another pid namespace is respected while it was renewed recently', () => {
    const { fixture, record } = planArchives()
    claimArchive(startWorker(fixture, 'container'), new Set())
    expect(finishArchives(startWorker(fixture, 'host'))).toEqual([])
    fixture.pass(MINUTE)
    expect(finishArchives(startWorker(fixture, 'host'))).toEqual([])
    expect(record().lease).toMatchObject({ where: 'container' })
    fixture.pass(2 * MINUTE)
    expect(finishArchives(startWorker(fixture, 'host'))).toHaveLength(1)
    expect(fixture.restored(record()).toString()).toBe(TEXT)
  })

  test('a lease is taken over at once from a dead process, and respected for a live one', () => {
    const { fixture, record } = planArchives()
    claimArchive(startWorker(fixture, 'host'), new Set())
    const other = { pid: 8, startedAt: '200', where: 'host' }
    expect(finishArchives(startWorker(fixture, 'host', { self: other, isAlive: ({ pid }) => pid === 7 }))).toEqual([])
    expect(finishArchives(startWorker(fixture, 'host', { self: other }))).toHaveLength(1)
    expect(record().status).toBe('kept')
  })

  test('a process keeps its lease however long the work takes', () => {
    const fixture = createArchiveHome()
    fixture.write('s1', TEXT.repeat(100_000))
    fixture.plan('s1')
    const tries: number[] = []
    const slow = startWorker(fixture, 'container', {
      progress() {
        fixture.pass(MINUTE)
        tries.push(finishArchives(startWorker(fixture, 'host')).length)
      },
    })
    expect(finishArchives(slow)).toHaveLength(1)
    expect(tries.length).toBeGreaterThan(10)
    expect(Math.max(...tries)).toBe(0)
  })
})

describe('a process that lost its lease while alive', () => {
  const runTakenOver = (then: () => void) => {
    const { fixture, record } = planArchives()
    const late = startWorker(fixture, 'container', {
      progress() {
        fixture.pass(3 * MINUTE)
        expect(finishArchives(startWorker(fixture, 'host'))).toHaveLength(1)
        then()
      },
    })
    return { fixture, record, late }
  }

  test('a process that lost its lease does not change what the other one kept', () => {
    const { fixture, record, late } = runTakenOver(() => {})
    expect(finishArchives(late)).toEqual([])
    expect(record()).toMatchObject({ status: 'kept', reason: null })
    expect(fixture.restored(record()).toString()).toBe(TEXT)
    expect(fixture.archives.verify([record()])).toMatchObject({ archives: [{ state: 'whole' }], extra: [] })
  })

  test('a process that lost its lease does not report its own error', () => {
    const { fixture, record, late } = runTakenOver(() => {
      throw new Error('no room')
    })
    expect(finishArchives(late)).toEqual([])
    expect(record()).toMatchObject({ status: 'kept', reason: null, attempts: 0 })
    expect(fixture.restored(record()).toString()).toBe(TEXT)
  })

  test('a process that lost its lease renames no file and keeps the link while the other one works', () => {
    const { fixture, record } = planArchives()
    const late = startWorker(fixture, 'container', {
      progress() {
        fixture.store.putArchive({
          ...record(),
          lease: { pid: 7, startedAt: '100', where: 'host', at: fixture.deps.now().toISOString() },
        })
      },
    })
    expect(finishArchives(late)).toEqual([])
    expect(record()).toMatchObject({ status: 'pending', lease: { where: 'host' } })
    expect([fixture.files(), fixture.links()]).toEqual([[], [record().parts[0]!.link]])
  })

  test('a process that lost its lease keeps a file that later archives need, even if the archive was removed', () => {
    const { fixture, record } = planArchives()
    let after: ReturnType<ArchiveHome['keep']> | undefined
    const late = startWorker(fixture, 'container', {
      progress() {
        const first = record()
        fixture.pass(3 * MINUTE)
        finishArchives(startWorker(fixture, 'host'))
        after = fixture.keep('s1')
        fixture.archives.remove([first])
      },
    })
    expect(finishArchives(late)).toEqual([])
    expect(fixture.restored(after!).toString()).toBe(TEXT)
  })
})

describe('temporary files', () => {
  test('temporary files are deleted when their process is dead, and after an hour in another namespace', () => {
    const { fixture } = planArchives()
    const { folder } = fixture.places
    const now = new Date()
    const make = (name: string, age: number): string => {
      writeFileSync(join(folder, name), 'half')
      utimesSync(join(folder, name), now, new Date(now.getTime() - age))
      return name
    }
    const dead = (where: string): string => temporaryName('a.jsonl.br', where).replace(/-\d+-\d+$/, '-999999-1')
    make(dead('here'), MINUTE)
    make(dead('gone'), 61 * MINUTE)
    make('.b.jsonl.br.baton-999999-1', 0)
    const stay = [
      make(temporaryName('c', 'here'), 300 * MINUTE),
      make(dead('elsewhere'), 59 * MINUTE),
      make('kept.jsonl.br', 0),
    ]
    removeTemporary(folder, 'here', now)
    expect(
      readdirSync(folder)
        .filter((name) => name !== 'pending')
        .sort(),
    ).toEqual(stay.sort())
  })
})

test('processes that can see each other have the same pid namespace id', () => {
  expect(pidNamespaceId()).toBe(pidNamespaceId())
  expect(pidNamespaceId()).not.toBe('')
})
