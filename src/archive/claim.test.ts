import { readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { silentLog } from '../lib/log.js'
import { line, newTrial, type Trial } from '../testing/archive-home.js'
import { whereabouts } from './archive.js'
import { claimArchive, type FinishDependencies, finishArchives } from './finish-archives.js'
import { removeTemporary, temporaryName } from './temporary-files.js'

const TEXT = line({ by: 'user', text: 'hello' })
const MINUTE = 60_000

/** A process that keeps archives; those in another place see it as dead. */
function worker(
  { deps, places, store }: Trial,
  where: string,
  changes: Partial<FinishDependencies> = {},
): FinishDependencies {
  const self = { pid: 7, startedAt: '100', where }
  return { store, places, self, now: deps.now, newId: deps.newId, log: silentLog, isAlive: () => false, ...changes }
}

function planned() {
  const trial = newTrial()
  trial.write('s1', TEXT)
  const { archiveId } = trial.plan('s1')!
  return { trial, record: () => trial.store.archive(archiveId)! }
}

describe('an archive another process works on', () => {
  test('is left to one elsewhere, whose pid means nothing here, while that one has lately said so', () => {
    const { trial, record } = planned()
    claimArchive(worker(trial, 'container'), new Set())
    expect(finishArchives(worker(trial, 'host'))).toEqual([])
    trial.pass(MINUTE)
    expect(finishArchives(worker(trial, 'host'))).toEqual([])
    expect(record().lease).toMatchObject({ where: 'container' })
    trial.pass(2 * MINUTE)
    expect(finishArchives(worker(trial, 'host'))).toHaveLength(1)
    expect(trial.restored(record()).toString()).toBe(TEXT)
  })

  test('is taken at once from one here that is dead, and left to one that lives', () => {
    const { trial, record } = planned()
    claimArchive(worker(trial, 'host'), new Set())
    const other = { pid: 8, startedAt: '200', where: 'host' }
    expect(finishArchives(worker(trial, 'host', { self: other, isAlive: ({ pid }) => pid === 7 }))).toEqual([])
    expect(finishArchives(worker(trial, 'host', { self: other }))).toHaveLength(1)
    expect(record().status).toBe('kept')
  })

  test('stays its own however long it takes', () => {
    const trial = newTrial()
    trial.write('s1', TEXT.repeat(100_000))
    trial.plan('s1')
    const tries: number[] = []
    const slow = worker(trial, 'container', {
      progress() {
        trial.pass(MINUTE)
        tries.push(finishArchives(worker(trial, 'host')).length)
      },
    })
    expect(finishArchives(slow)).toHaveLength(1)
    expect(tries.length).toBeGreaterThan(10)
    expect(Math.max(...tries)).toBe(0)
  })
})

describe('a process wrongly taken for dead', () => {
  const takenOver = (then: () => void) => {
    const { trial, record } = planned()
    const late = worker(trial, 'container', {
      progress() {
        trial.pass(3 * MINUTE)
        expect(finishArchives(worker(trial, 'host'))).toHaveLength(1)
        then()
      },
    })
    return { trial, record, late }
  }

  test('leaves what the other one kept as it is', () => {
    const { trial, record, late } = takenOver(() => {})
    expect(finishArchives(late)).toEqual([])
    expect(record()).toMatchObject({ status: 'kept', reason: null })
    expect(trial.restored(record()).toString()).toBe(TEXT)
    expect(trial.archives.verify([record()])).toMatchObject({ archives: [{ state: 'whole' }], extra: [] })
  })

  test('tells nothing of its own trouble with it', () => {
    const { trial, record, late } = takenOver(() => {
      throw new Error('no room')
    })
    expect(finishArchives(late)).toEqual([])
    expect(record()).toMatchObject({ status: 'kept', reason: null, attempts: 0 })
    expect(trial.restored(record()).toString()).toBe(TEXT)
  })

  test('gives no file a name, and leaves the link, while the other one is still at work', () => {
    const { trial, record } = planned()
    const late = worker(trial, 'container', {
      progress() {
        trial.store.putArchive({
          ...record(),
          lease: { pid: 7, startedAt: '100', where: 'host', at: trial.deps.now().toISOString() },
        })
      },
    })
    expect(finishArchives(late)).toEqual([])
    expect(record()).toMatchObject({ status: 'pending', lease: { where: 'host' } })
    expect([trial.files(), trial.links()]).toEqual([[], [record().parts[0]!.link]])
  })

  test('leaves a file alone that later archives need, also when the archive itself was removed', () => {
    const { trial, record } = planned()
    let after: ReturnType<Trial['keep']> | undefined
    const late = worker(trial, 'container', {
      progress() {
        const first = record()
        trial.pass(3 * MINUTE)
        finishArchives(worker(trial, 'host'))
        after = trial.keep('s1')
        trial.archives.remove([first])
      },
    })
    expect(finishArchives(late)).toEqual([])
    expect(trial.restored(after!).toString()).toBe(TEXT)
  })
})

describe('files that never got their names', () => {
  test('go when their process is gone, and of a process elsewhere after an hour', () => {
    const { trial } = planned()
    const { folder } = trial.places
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

test('a place is the same for all processes that see each other', () => {
  expect(whereabouts()).toBe(whereabouts())
  expect(whereabouts()).not.toBe('')
})
