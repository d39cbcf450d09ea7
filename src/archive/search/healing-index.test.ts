import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { BatonError } from '../../lib/errors.js'
import { type ArchiveHome, createArchiveHome, jsonLine } from '../../testing/archive-home.js'
import { makeArchives } from '../archive.js'
import { makeRebuildingIndex } from './healing-index.js'
import { openIndex, type SearchIndex } from './open-index.js'
import { explainSearchError } from './search-archives.js'

const PAGE = 4096
const said = (text: string): string => jsonLine({ by: 'user', text })

/** Creates two sessions with an index of many pages, and collects the warnings of the log. */
function createFilledArchive(): { fixture: ArchiveHome; logged: string[] } {
  const logged: string[] = []
  const fixture = createArchiveHome({ log: (level, text) => void (level === 'info' || logged.push(text)) })
  for (const id of ['s1', 's2']) {
    const filler = Array.from({ length: 400 }, (_, n) =>
      said(`filler ${n} ${(n * 7919).toString(36)} ${'lorem ipsum '.repeat(20)}`),
    )
    fixture.write(id, said(`albatross of ${id}`) + filler.join('') + said(`zebra of ${id}`))
    fixture.keep(id)
  }
  fixture.archives.close()
  const index = openIndex(fixture.places.index, () => {})
  index.compact()
  index.close()
  expect(logged).toEqual([])
  return { fixture, logged }
}

const MADE_AGAIN = 'the archive index is damaged and is rebuilt'

/** Fills bytes with pseudorandom data that is the same on every run. */
function scrambleBytes(bytes: Buffer, from: number): Buffer {
  let state = 12345
  for (let at = from; at < bytes.length; at++) {
    state = (state * 1103515245 + 12345) & 0x7fffffff
    bytes[at] = state >> 16
  }
  return bytes
}

/** Replaces the index by another file, because SQLite keeps the open file's state by inode. */
function damageIndex({ places }: ArchiveHome, change: (bytes: Buffer) => Buffer): void {
  const bytes = change(readFileSync(places.index))
  for (const end of ['', '-wal', '-shm']) rmSync(places.index + end, { force: true })
  writeFileSync(`${places.index}.new`, bytes)
  renameSync(`${places.index}.new`, places.index)
}

const damages: [name: string, change: (bytes: Buffer) => Buffer][] = [
  ['pages of zeros', (bytes) => bytes.fill(0, 2 * PAGE)],
  ['pages of noise', (bytes) => scrambleBytes(bytes, 2 * PAGE)],
  ['half of its pages', (bytes) => bytes.subarray(0, Math.floor(bytes.length / 2 / PAGE) * PAGE)],
  ['noise from its first byte on', (bytes) => scrambleBytes(bytes, 0)],
]

const found = (fixture: ArchiveHome, query: string): string[] =>
  fixture.archives
    .search({ query, limit: 9 })
    .map(({ text }) => text)
    .sort()

/** Returns the content of all of Baton's files except the archives. */
const indexFiles = ({ root }: ArchiveHome): string =>
  readdirSync(root)
    .filter((name) => name.startsWith('archive-index'))
    .map((name) => readFileSync(join(root, name), 'latin1'))
    .join('')

describe('a damaged index', () => {
  test.each(damages)(
    'an index that holds %s is rebuilt by the first search, which finds everything',
    (_name, change) => {
      const { fixture, logged } = createFilledArchive()
      damageIndex(fixture, change)
      let bytes = 0
      const hits = fixture.archives.search({ query: 'albatross', limit: 9, progress: (more) => (bytes += more) })
      expect(hits.map(({ session_id: id }) => id).sort()).toEqual(['s1', 's2'])
      expect(bytes).toBe(statSync(fixture.path('s1')).size + statSync(fixture.path('s2')).size)
      expect(logged).toEqual([MADE_AGAIN])
      expect(found(fixture, 'zebra')).toEqual(['zebra of s1', 'zebra of s2'])
      expect(fixture.store.archives().map(({ indexed, reason }) => [indexed, reason])).toEqual([
        [true, null],
        [true, null],
      ])
      expect(readdirSync(fixture.root).filter((name) => name.includes('damaged'))).toEqual([])
    },
  )

  test.each(damages)('an index that holds %s is rebuilt when the next archive is kept', (_name, change) => {
    const { fixture, logged } = createFilledArchive()
    damageIndex(fixture, change)
    fixture.write('s2', said('walrus'))
    expect(fixture.keep('s2')).toMatchObject({ status: 'kept', indexed: true, reason: null })
    expect(logged).toEqual([MADE_AGAIN])
    expect(fixture.archives.hasWork()).toBe(false)
    expect([found(fixture, 'walrus'), found(fixture, 'albatross')]).toEqual([
      ['walrus'],
      ['albatross of s1', 'albatross of s2'],
    ])
  })

  test.each(damages)(
    'an index that holds %s keeps no text of forgotten archives, and everything else is found',
    (_name, change) => {
      const { fixture, logged } = createFilledArchive()
      // The index stores words without the letters they share with the previous word.
      expect(indexFiles(fixture)).toContain('tross')
      damageIndex(fixture, change)
      const forgotten = fixture.store.archives({ sessionId: 's1' })
      fixture.archives.remove(forgotten, { thorough: true })
      expect(logged).toEqual([MADE_AGAIN])
      expect(fixture.store.leftovers()).toEqual([])
      expect(indexFiles(fixture)).not.toContain('tross')
      fixture.archives.finish()
      expect(found(fixture, 'albatross')).toEqual(['albatross of s2'])
    },
  )

  test('a damaged index is rebuilt once, even if another process replaced it meanwhile', () => {
    const { fixture, logged } = createFilledArchive()
    damageIndex(fixture, damages[0]![1])
    const [one, other] = [1, 2].map(() => makeRebuildingIndex(fixture.places.index, fixture.store, fixture.deps.log))
    const rows = (index: SearchIndex): number =>
      index.sql('SELECT rowid FROM words WHERE words MATCH ?').all('albatross').length
    try {
      let tries = 0
      const found = one!.use((index) => {
        if (++tries === 1) other!.use(rows)
        return rows(index)
      })
      expect([found, tries, one!.changes()]).toEqual([0, 2, 1])
      expect(logged).toEqual([MADE_AGAIN])
      expect(fixture.store.archives().map(({ indexed }) => indexed)).toEqual([false, false])
    } finally {
      one!.close()
      other!.close()
    }
    fixture.archives.finish()
    expect(found(fixture, 'albatross')).toHaveLength(2)
  })
})

describe('a missing index', () => {
  const remove = ({ places }: ArchiveHome): void => {
    for (const end of ['', '-wal', '-shm']) rmSync(places.index + end, { force: true })
  }

  test('a missing index is rebuilt by the first search, also in a process that has it open', () => {
    const { fixture } = createFilledArchive()
    remove(fixture)
    expect(found(fixture, 'zebra')).toHaveLength(2)
    remove(fixture)
    expect(found(fixture, 'zebra')).toHaveLength(2)
  })

  test('a missing index that another process has half rebuilt is completed before a search answers', () => {
    const { fixture } = createFilledArchive()
    remove(fixture)
    const other = makeRebuildingIndex(fixture.places.index, fixture.store, fixture.deps.log)
    other.use(() => {})
    expect(found(fixture, 'zebra')).toHaveLength(2)
    other.close()
  })

  test('an index that disappears while archives are indexed leaves no archive marked as indexed', () => {
    const { fixture } = createFilledArchive()
    const record = fixture.store.archives()[0]!
    const read = fixture.deps.readerOf('fixture', 'main')!
    let removed = false
    const archives = makeArchives({
      ...fixture.deps,
      readerOf: () => (text, number) => {
        if (!removed) remove(fixture)
        removed = true
        return read(text, number)
      },
    })
    try {
      fixture.write('s1', said('walrus'))
      fixture.plan('s1')
      archives.finish()
      expect(removed).toBe(true)
      expect(archives.search({ query: 'walrus', limit: 9 })).toHaveLength(1)
      expect(archives.search({ query: 'albatross', limit: 9 })).toHaveLength(2)
      expect(fixture.store.archive(record.archiveId)!.indexed).toBe(true)
    } finally {
      archives.close()
    }
  })

  test('an index whose creator died before it reset the archives is not taken for complete', () => {
    const { fixture } = createFilledArchive()
    remove(fixture)
    const killed = new Error('killed')
    expect(() =>
      openIndex(fixture.places.index, () => {
        throw killed
      }),
    ).toThrow(killed)
    expect(found(fixture, 'zebra')).toHaveLength(2)
  })
})

describe('errors of a search', () => {
  test.each([
    ['database or disk is full', /Cannot search the archives: no space/],
    ['unable to open database file', /index cannot be opened/],
    ['disk I/O error', /index cannot be read/],
  ])('the search error %s is explained in a sentence', (message, says) => {
    const told = explainSearchError(Object.assign(new Error(message), { code: 'ERR_SQLITE_ERROR' }))
    expect(told).toBeInstanceOf(BatonError)
    expect((told as BatonError).message).toMatch(says)
  })

  test('an unrelated error is returned unchanged', () => {
    const error = new Error('something else')
    expect(explainSearchError(error)).toBe(error)
  })
})
