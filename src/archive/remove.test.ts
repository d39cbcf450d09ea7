import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { line, newTrial, type Trial } from '../testing/archive-home.js'
import { readSimpleLine } from './fixtures/simple-line.js'
import { removeArchives } from './remove-archives.js'
import { openIndex } from './search/open-index.js'

const said = (text: string): string => line({ by: 'user', text })
const noise = (): string => line({ out: randomBytes(40_000).toString('hex') })
const disk = (trial: Trial): number =>
  trial.files().reduce((sum, file) => sum + statSync(join(trial.places.folder, file)).size, 0)
const countHits = (trial: Trial, query: string): number => trial.archives.search({ query, limit: 9 }).length

/** Creates three archives of s1 and one of s2 with a subagent. */
function makeFilledTrial() {
  const trial = newTrial()
  const kept = [1, 2, 3].map((n) => {
    trial.write('s1', noise() + said(`stage${n}`))
    return trial.keep('s1')
  })
  trial.pass(3_600_000)
  trial.write('s2', noise() + said('other'))
  trial.write('agent-a', said('helper'))
  const other = trial.keep('s2', { subagents: ['agent-a'], project: '/other' })
  const bytes = kept.map((record) => trial.restored(record))
  return { trial, kept, other, bytes }
}

describe('removing archives', () => {
  test('removing all archives of a session deletes its files and text only, and reports the freed bytes', () => {
    const { trial, kept, other } = makeFilledTrial()
    const before = disk(trial)
    const told = trial.archives.freedBytes(kept)
    const { archives, freedBytes } = trial.archives.remove(kept, { thorough: true })
    expect(archives).toHaveLength(3)
    expect(freedBytes).toBe(before - disk(trial))
    expect(freedBytes).toBe(told)
    expect(trial.files()).toHaveLength(2)
    expect([countHits(trial, 'stage*'), countHits(trial, 'other'), countHits(trial, 'helper')]).toEqual([0, 1, 1])
    expect(trial.archives.verify([other])).toMatchObject({ archives: [{ state: 'whole' }], extra: [] })
    const words = readFileSync(trial.places.index).includes('stage1')
    expect(words).toBe(false)
  })

  test('removing an archive that later ones build on frees nothing and breaks nothing', () => {
    const { trial, kept, bytes } = makeFilledTrial()
    const before = disk(trial)
    expect(trial.archives.remove([kept[0]!]).freedBytes).toBe(0)
    expect(disk(trial)).toBe(before)
    expect(trial.restored(kept[1]!).equals(bytes[1]!)).toBe(true)
    expect(trial.restored(kept[2]!).equals(bytes[2]!)).toBe(true)
    expect(trial.archives.search({ query: 'stage1', limit: 1 })[0]!.archive_id).toBe(kept[1]!.archiveId)
    expect(trial.archives.view([kept[1]!])[0]!.stored_bytes).toBeGreaterThan(60_000)
  })

  test('removing the newest archive deletes what only it held, and the next archive continues from there', () => {
    const { trial, kept, bytes } = makeFilledTrial()
    expect(trial.archives.remove([kept[2]!]).freedBytes).toBeGreaterThan(30_000)
    expect([countHits(trial, 'stage1'), countHits(trial, 'stage2'), countHits(trial, 'stage3')]).toEqual([1, 1, 0])
    trial.write('s1', said('stage4'))
    const again = trial.keep('s1')
    expect(trial.restored(again).equals(Buffer.concat([bytes[2]!, Buffer.from(said('stage4'))]))).toBe(true)
    expect([
      countHits(trial, 'stage1'),
      countHits(trial, 'stage2'),
      countHits(trial, 'stage3'),
      countHits(trial, 'stage4'),
    ]).toEqual([1, 1, 1, 1])
    expect(trial.archives.search({ query: 'stage4', limit: 1 })[0]!.line).toBe(7)
  })

  test('removing archives that were kept after they were chosen deletes everything', () => {
    const trial = newTrial()
    trial.write('s1', said('one'))
    trial.plan('s1')
    const chosen = trial.store.archives()
    expect(chosen).toMatchObject([{ status: 'pending' }])
    trial.archives.finish()
    expect(trial.archives.remove(chosen).freedBytes).toBeGreaterThan(0)
    expect([trial.store.archives(), trial.store.segments(), trial.files(), countHits(trial, 'one')]).toEqual([
      [],
      [],
      [],
      0,
    ])
    trial.write('s1', said('two'))
    expect(trial.restored(trial.keep('s1')).toString()).toBe(said('one') + said('two'))
  })

  test('removing archives that another process removed already deletes nothing else', () => {
    const { trial, kept } = makeFilledTrial()
    trial.archives.remove(kept)
    trial.write('s1', said('later'))
    const later = trial.keep('s1')
    expect(trial.archives.remove(kept).freedBytes).toBe(0)
    expect(trial.archives.verify([later]).archives).toMatchObject([{ state: 'whole' }])
    expect(countHits(trial, 'later')).toBe(1)
  })

  test('an interrupted removal is finished by the next process', () => {
    const { trial, kept } = makeFilledTrial()
    const cut = new Error('killed')
    const parts = { store: trial.store, places: trial.places }
    expect(() =>
      removeArchives(
        {
          ...parts,
          unindex: () => {
            throw cut
          },
        },
        kept,
      ),
    ).toThrow(cut)
    expect(trial.store.archives({ sessionId: 's1' })).toEqual([])
    expect(trial.store.leftovers().length).toBeGreaterThan(0)
    expect(trial.archives.hasWork()).toBe(true)
    expect(countHits(trial, 'stage*')).toBe(0)
    trial.archives.finish()
    expect(trial.store.leftovers()).toEqual([])
    expect(trial.files()).toHaveLength(2)
    expect(countHits(trial, 'stage*')).toBe(0)
    expect(countHits(trial, 'other')).toBe(1)
  })

  test('a removal that cannot open the index does not cause endless work, and is completed later', () => {
    const { trial, kept } = makeFilledTrial()
    trial.archives.close()
    renameSync(trial.places.index, `${trial.places.index}.away`)
    mkdirSync(trial.places.index)
    trial.archives.remove(kept)
    expect(trial.archives.hasWork()).toBe(false)
    expect(trial.store.leftovers()).toHaveLength(1)
    rmdirSync(trial.places.index)
    renameSync(`${trial.places.index}.away`, trial.places.index)
    trial.archives.finish()
    expect(trial.store.leftovers()).toEqual([])
    expect([countHits(trial, 'stage*'), countHits(trial, 'other')]).toEqual([0, 1])
  })

  test('removing archives while they are indexed leaves no text of them in the index', () => {
    const forgotten: string[] = []
    const trial: Trial = newTrial({
      readerOf: () => (json, number) => {
        const [archive] = trial.store.archives()
        if (archive) {
          forgotten.push(archive.archiveId)
          trial.store.transaction(() => trial.store.dropArchive(archive.archiveId))
        }
        return readSimpleLine(json, number)
      },
    })
    trial.write('s1', said('unforgettable') + noise())
    trial.plan('s1')
    trial.archives.finish()
    expect(forgotten).toHaveLength(1)
    expect(trial.store.leftovers()).toEqual([])
    const index = openIndex(trial.places.index, () => {})
    for (const table of ['streams', 'spans', 'entries']) expect(index.sql(`SELECT * FROM ${table}`).all()).toEqual([])
    expect(index.sql('SELECT rowid FROM words WHERE words MATCH ?').all('unforgettable')).toEqual([])
    index.close()
  })

  test('removing planned archives deletes their links', () => {
    const trial = newTrial()
    trial.write('s1', said('x'))
    const planned = trial.plan('s1')!
    expect(trial.links()).toHaveLength(1)
    trial.archives.remove([planned])
    expect([trial.links(), trial.store.archives(), trial.archives.finish()]).toEqual([[], [], []])
  })
})

describe('retention', () => {
  test('retention deletes what the configuration calls too old or too large, and nothing by default', () => {
    const { trial } = makeFilledTrial()
    expect(trial.archives.retain(() => ({ keepDays: null, keepBytes: null }))).toEqual({ archives: [], freedBytes: 0 })
    trial.pass(10 * 24 * 3_600_000)
    trial.write('s3', said('new'))
    const fresh = trial.keep('s3')
    const { archives } = trial.archives.retain((project) => ({
      keepDays: project === '/shop' ? 5 : null,
      keepBytes: null,
    }))
    expect(archives).toHaveLength(3)
    expect(trial.store.archives().map(({ sessionId }) => sessionId)).toEqual(['s2', 's3'])
    trial.archives.retain(() => ({ keepDays: null, keepBytes: 1_000 }))
    expect(trial.store.archives().map(({ archiveId }) => archiveId)).toEqual([fresh.archiveId])
  })
})

describe('verifying archives', () => {
  const states = (trial: Trial) => trial.archives.verify(trial.store.archives()).archives.map(({ state }) => state)

  test('verify reports intact, damaged and missing archives, and unknown files', () => {
    const { trial } = makeFilledTrial()
    expect(states(trial)).toEqual(['whole', 'whole', 'whole', 'whole'])
    const [first, second] = trial.files()
    const path = join(trial.places.folder, second!)
    const bytes = readFileSync(path)
    bytes[bytes.length >> 1]! ^= 0xff
    writeFileSync(path, bytes)
    expect(states(trial)).toEqual(['whole', 'damaged', 'damaged', 'whole'])
    rmSync(join(trial.places.folder, first!))
    expect(states(trial)).toEqual(['missing', 'missing', 'missing', 'whole'])
    writeFileSync(join(trial.places.folder, 'stray.txt'), '')
    expect(trial.archives.verify(trial.store.archives()).extra).toEqual(['stray.txt'])
  })

  test('verify ignores files that another process is writing', () => {
    const { trial } = makeFilledTrial()
    trial.write('s4', said('now'))
    const { stem } = trial.plan('s4')!
    writeFileSync(join(trial.places.folder, `.${stem}.jsonl.br.baton-${process.pid}-1`), 'half')
    writeFileSync(join(trial.places.folder, `.${stem}.jsonl.br.baton-999999-1`), 'half of a dead one')
    writeFileSync(join(trial.places.folder, `${stem}.jsonl.br`), 'named, not yet told')
    expect(trial.archives.verify(trial.store.archives()).extra).toEqual([])
    expect(trial.files().filter((name) => name.includes('999999'))).toEqual([])
  })

  test('verify detects a file that is truncated, longer, or replaced by another intact one', () => {
    const { trial } = makeFilledTrial()
    const [first, second, third] = trial.files().map((file) => join(trial.places.folder, file))
    const keep = [first, second, third].map((path) => readFileSync(path!))
    const judged = (change: () => void): string => {
      change()
      const [state] = states(trial)
      writeFileSync(first!, keep[0]!)
      return state!
    }
    expect(judged(() => truncateSync(first!, 100))).toBe('damaged')
    expect(judged(() => writeFileSync(first!, Buffer.concat([keep[0]!, Buffer.from('x')])))).toBe('damaged')
    expect(judged(() => writeFileSync(first!, keep[1]!))).toBe('damaged')
    expect(states(trial)[0]).toBe('whole')
  })

  test('restoring a damaged archive is refused and leaves no file', () => {
    const { trial, kept } = makeFilledTrial()
    truncateSync(join(trial.places.folder, trial.files()[0]!), 100)
    expect(() => trial.restored(kept[0]!)).toThrow(/cannot be unpacked/)
  })
})
