import { randomBytes } from 'node:crypto'
import { mkdirSync, readFileSync, renameSync, rmdirSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type ArchiveHome, createArchiveHome, jsonLine } from '../testing/archive-home.js'
import { readSimpleLine } from './fixtures/simple-line.js'
import { removeArchives } from './remove-archives.js'
import { openIndex } from './search/open-index.js'

const said = (text: string): string => jsonLine({ by: 'user', text })
const noise = (): string => jsonLine({ out: randomBytes(40_000).toString('hex') })
const disk = (fixture: ArchiveHome): number =>
  fixture.files().reduce((sum, file) => sum + statSync(join(fixture.places.folder, file)).size, 0)
const countHits = (fixture: ArchiveHome, query: string): number => fixture.archives.search({ query, limit: 9 }).length

/** Creates three archives of s1 and one of s2 with a subagent. */
function createFilledArchive() {
  const fixture = createArchiveHome()
  const kept = [1, 2, 3].map((n) => {
    fixture.write('s1', noise() + said(`stage${n}`))
    return fixture.keep('s1')
  })
  fixture.pass(3_600_000)
  fixture.write('s2', noise() + said('other'))
  fixture.write('agent-a', said('helper'))
  const other = fixture.keep('s2', { subagents: ['agent-a'], project: '/other' })
  const bytes = kept.map((record) => fixture.restored(record))
  return { fixture, kept, other, bytes }
}

describe('removing archives', () => {
  test('removing all archives of a session deletes its files and text only, and reports the freed bytes', () => {
    const { fixture, kept, other } = createFilledArchive()
    const before = disk(fixture)
    const told = fixture.archives.freedBytes(kept)
    const { archives, freedBytes } = fixture.archives.remove(kept, { thorough: true })
    expect(archives).toHaveLength(3)
    expect(freedBytes).toBe(before - disk(fixture))
    expect(freedBytes).toBe(told)
    expect(fixture.files()).toHaveLength(2)
    expect([countHits(fixture, 'stage*'), countHits(fixture, 'other'), countHits(fixture, 'helper')]).toEqual([0, 1, 1])
    expect(fixture.archives.verify([other])).toMatchObject({ archives: [{ state: 'whole' }], extra: [] })
    const words = readFileSync(fixture.places.index).includes('stage1')
    expect(words).toBe(false)
  })

  test('removing an archive that later ones build on frees nothing and breaks nothing', () => {
    const { fixture, kept, bytes } = createFilledArchive()
    const before = disk(fixture)
    expect(fixture.archives.remove([kept[0]!]).freedBytes).toBe(0)
    expect(disk(fixture)).toBe(before)
    expect(fixture.restored(kept[1]!).equals(bytes[1]!)).toBe(true)
    expect(fixture.restored(kept[2]!).equals(bytes[2]!)).toBe(true)
    expect(fixture.archives.search({ query: 'stage1', limit: 1 })[0]!.archive_id).toBe(kept[1]!.archiveId)
    expect(fixture.archives.view([kept[1]!])[0]!.stored_bytes).toBeGreaterThan(60_000)
  })

  test('removing the newest archive deletes what only it held, and the next archive continues from there', () => {
    const { fixture, kept, bytes } = createFilledArchive()
    expect(fixture.archives.remove([kept[2]!]).freedBytes).toBeGreaterThan(30_000)
    expect([countHits(fixture, 'stage1'), countHits(fixture, 'stage2'), countHits(fixture, 'stage3')]).toEqual([
      1, 1, 0,
    ])
    fixture.write('s1', said('stage4'))
    const again = fixture.keep('s1')
    expect(fixture.restored(again).equals(Buffer.concat([bytes[2]!, Buffer.from(said('stage4'))]))).toBe(true)
    expect([
      countHits(fixture, 'stage1'),
      countHits(fixture, 'stage2'),
      countHits(fixture, 'stage3'),
      countHits(fixture, 'stage4'),
    ]).toEqual([1, 1, 1, 1])
    expect(fixture.archives.search({ query: 'stage4', limit: 1 })[0]!.line).toBe(7)
  })

  test('removing archives that were kept after they were chosen deletes everything', () => {
    const fixture = createArchiveHome()
    fixture.write('s1', said('one'))
    fixture.plan('s1')
    const chosen = fixture.store.archives()
    expect(chosen).toMatchObject([{ status: 'pending' }])
    fixture.archives.finish()
    expect(fixture.archives.remove(chosen).freedBytes).toBeGreaterThan(0)
    expect([fixture.store.archives(), fixture.store.segments(), fixture.files(), countHits(fixture, 'one')]).toEqual([
      [],
      [],
      [],
      0,
    ])
    fixture.write('s1', said('two'))
    expect(fixture.restored(fixture.keep('s1')).toString()).toBe(said('one') + said('two'))
  })

  test('removing archives that another process removed already deletes nothing else', () => {
    const { fixture, kept } = createFilledArchive()
    fixture.archives.remove(kept)
    fixture.write('s1', said('later'))
    const later = fixture.keep('s1')
    expect(fixture.archives.remove(kept).freedBytes).toBe(0)
    expect(fixture.archives.verify([later]).archives).toMatchObject([{ state: 'whole' }])
    expect(countHits(fixture, 'later')).toBe(1)
  })

  test('an interrupted removal is finished by the next process', () => {
    const { fixture, kept } = createFilledArchive()
    const cut = new Error('killed')
    const parts = { store: fixture.store, places: fixture.places }
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
    expect(fixture.store.archives({ sessionId: 's1' })).toEqual([])
    expect(fixture.store.leftovers().length).toBeGreaterThan(0)
    expect(fixture.archives.hasWork()).toBe(true)
    expect(countHits(fixture, 'stage*')).toBe(0)
    fixture.archives.finish()
    expect(fixture.store.leftovers()).toEqual([])
    expect(fixture.files()).toHaveLength(2)
    expect(countHits(fixture, 'stage*')).toBe(0)
    expect(countHits(fixture, 'other')).toBe(1)
  })

  test('a removal that cannot open the index does not cause endless work, and is completed later', () => {
    const { fixture, kept } = createFilledArchive()
    fixture.archives.close()
    renameSync(fixture.places.index, `${fixture.places.index}.away`)
    mkdirSync(fixture.places.index)
    fixture.archives.remove(kept)
    expect(fixture.archives.hasWork()).toBe(false)
    expect(fixture.store.leftovers()).toHaveLength(1)
    rmdirSync(fixture.places.index)
    renameSync(`${fixture.places.index}.away`, fixture.places.index)
    fixture.archives.finish()
    expect(fixture.store.leftovers()).toEqual([])
    expect([countHits(fixture, 'stage*'), countHits(fixture, 'other')]).toEqual([0, 1])
  })

  test('removing archives while they are indexed leaves no text of them in the index', () => {
    const forgotten: string[] = []
    const fixture: ArchiveHome = createArchiveHome({
      readerOf: () => (json, number) => {
        const [archive] = fixture.store.archives()
        if (archive) {
          forgotten.push(archive.archiveId)
          fixture.store.transaction(() => fixture.store.dropArchive(archive.archiveId))
        }
        return readSimpleLine(json, number)
      },
    })
    fixture.write('s1', said('unforgettable') + noise())
    fixture.plan('s1')
    fixture.archives.finish()
    expect(forgotten).toHaveLength(1)
    expect(fixture.store.leftovers()).toEqual([])
    const index = openIndex(fixture.places.index, () => {})
    for (const table of ['streams', 'spans', 'entries']) expect(index.sql(`SELECT * FROM ${table}`).all()).toEqual([])
    expect(index.sql('SELECT rowid FROM words WHERE words MATCH ?').all('unforgettable')).toEqual([])
    index.close()
  })

  test('removing planned archives deletes their links', () => {
    const fixture = createArchiveHome()
    fixture.write('s1', said('x'))
    const planned = fixture.plan('s1')!
    expect(fixture.links()).toHaveLength(1)
    fixture.archives.remove([planned])
    expect([fixture.links(), fixture.store.archives(), fixture.archives.finish()]).toEqual([[], [], []])
  })
})

describe('retention', () => {
  test('retention deletes what the configuration calls too old or too large, and nothing by default', () => {
    const { fixture } = createFilledArchive()
    expect(fixture.archives.retain(() => ({ keepDays: null, keepBytes: null }))).toEqual({
      archives: [],
      freedBytes: 0,
    })
    fixture.pass(10 * 24 * 3_600_000)
    fixture.write('s3', said('new'))
    const fresh = fixture.keep('s3')
    const { archives } = fixture.archives.retain((project) => ({
      keepDays: project === '/shop' ? 5 : null,
      keepBytes: null,
    }))
    expect(archives).toHaveLength(3)
    expect(fixture.store.archives().map(({ sessionId }) => sessionId)).toEqual(['s2', 's3'])
    fixture.archives.retain(() => ({ keepDays: null, keepBytes: 1_000 }))
    expect(fixture.store.archives().map(({ archiveId }) => archiveId)).toEqual([fresh.archiveId])
  })
})

describe('verifying archives', () => {
  const states = (fixture: ArchiveHome) =>
    fixture.archives.verify(fixture.store.archives()).archives.map(({ state }) => state)

  test('verify reports intact, damaged and missing archives, and unknown files', () => {
    const { fixture } = createFilledArchive()
    expect(states(fixture)).toEqual(['whole', 'whole', 'whole', 'whole'])
    const [first, second] = fixture.files()
    const path = join(fixture.places.folder, second!)
    const bytes = readFileSync(path)
    bytes[bytes.length >> 1]! ^= 0xff
    writeFileSync(path, bytes)
    expect(states(fixture)).toEqual(['whole', 'damaged', 'damaged', 'whole'])
    rmSync(join(fixture.places.folder, first!))
    expect(states(fixture)).toEqual(['missing', 'missing', 'missing', 'whole'])
    writeFileSync(join(fixture.places.folder, 'stray.txt'), '')
    expect(fixture.archives.verify(fixture.store.archives()).extra).toEqual(['stray.txt'])
  })

  test('verify ignores files that another process is writing', () => {
    const { fixture } = createFilledArchive()
    fixture.write('s4', said('now'))
    const { stem } = fixture.plan('s4')!
    writeFileSync(join(fixture.places.folder, `.${stem}.jsonl.br.baton-${process.pid}-1`), 'half')
    writeFileSync(join(fixture.places.folder, `.${stem}.jsonl.br.baton-999999-1`), 'half of a dead one')
    writeFileSync(join(fixture.places.folder, `${stem}.jsonl.br`), 'named, not yet told')
    expect(fixture.archives.verify(fixture.store.archives()).extra).toEqual([])
    expect(fixture.files().filter((name) => name.includes('999999'))).toEqual([])
  })

  test('verify detects a file that is truncated, longer, or replaced by another intact one', () => {
    const { fixture } = createFilledArchive()
    const [first, second, third] = fixture.files().map((file) => join(fixture.places.folder, file))
    const keep = [first, second, third].map((path) => readFileSync(path!))
    const judged = (change: () => void): string => {
      change()
      const [state] = states(fixture)
      writeFileSync(first!, keep[0]!)
      return state!
    }
    expect(judged(() => truncateSync(first!, 100))).toBe('damaged')
    expect(judged(() => writeFileSync(first!, Buffer.concat([keep[0]!, Buffer.from('x')])))).toBe('damaged')
    expect(judged(() => writeFileSync(first!, keep[1]!))).toBe('damaged')
    expect(states(fixture)[0]).toBe('whole')
  })

  test('restoring a damaged archive is refused and leaves no file', () => {
    const { fixture, kept } = createFilledArchive()
    truncateSync(join(fixture.places.folder, fixture.files()[0]!), 100)
    expect(() => fixture.restored(kept[0]!)).toThrow(/cannot be unpacked/)
  })
})
