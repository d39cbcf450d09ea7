import { createHash, randomBytes } from 'node:crypto'
import {
  appendFileSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync, constants } from 'node:zlib'
import { expect, test } from 'vitest'
import type { ArchiveRecord } from '../contract/records/archive.js'
import { type ArchiveHome, createArchiveHome, jsonLine } from '../testing/archive-home.js'

const said = (text: string): string => jsonLine({ by: 'user', text })
/** Returns a line that needs more than one block of a segment file. */
const long = (word: string): string => jsonLine({ out: `${word} `.repeat(45_000) })

/**
 * Returns a fixture with an empty store and the archive folder of another fixture.
 * The search index survives the loss of the store.
 */
function withoutStore(fixture: ArchiveHome): ArchiveHome {
  const fresh = createArchiveHome({ newId: () => randomBytes(8).toString('hex') })
  cpSync(fixture.places.folder, fresh.places.folder, { recursive: true })
  cpSync(fixture.places.index, fresh.places.index)
  return fresh
}

const withoutRecords = (fixture: ArchiveHome): void => rmSync(fixture.places.records, { recursive: true })
const record = (fixture: ArchiveHome, { stem }: ArchiveRecord): string => join(fixture.places.records, `${stem}.json`)
const segment = (fixture: ArchiveHome, { stem }: ArchiveRecord): string =>
  join(fixture.places.folder, `${stem}.jsonl.br`)
const countHits = (fixture: ArchiveHome, query: string): number => fixture.archives.search({ query, limit: 50 }).length
/**
 * Hashes instead of comparing: a comparison of megabyte buffers element by element takes seconds.
 */
const hashOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
const isWhole = (fixture: ArchiveHome): boolean =>
  fixture.archives.verify(fixture.store.archives()).archives.every(({ state }) => state === 'whole')

/** Creates two sessions, one of them archived three times with a subagent. */
function createFilledArchive() {
  const fixture = createArchiveHome()
  fixture.write('s1', said('alpha') + long('filler'))
  fixture.write('agent-x', said('helper alpha'))
  const kept = [fixture.keep('s1', { subagents: ['agent-x'] })]
  fixture.write('s1', said('beta'))
  kept.push(fixture.keep('s1', { subagents: ['agent-x'], trigger: 'handoff' }))
  fixture.write('s1', said('gamma'))
  fixture.write('agent-x', said('helper gamma'))
  kept.push(fixture.keep('s1', { subagents: ['agent-x'] }))
  fixture.write('s2', said('delta'))
  kept.push(fixture.keep('s2', { project: '/site' }))
  const bytes = kept.map((one) => one.parts.map((_, part) => hashOf(fixture.restored(one, part))))
  return { fixture, kept, bytes }
}

test('adopt brings every archive back with its id, session, project, trigger, time, subagents and hashes', () => {
  const { fixture, kept, bytes } = createFilledArchive()
  const fresh = withoutStore(fixture)
  const { adopted, skipped } = fresh.archives.adopt()
  expect(skipped).toEqual([])
  expect(adopted.map(({ archiveId }) => archiveId)).toEqual(kept.map(({ archiveId }) => archiveId))
  const comparable = (records: ArchiveRecord[]) =>
    records.map((one) => ({ ...one, parts: one.parts.map((part) => ({ ...part, mark: '' })) }))
  expect(comparable(fresh.store.archives())).toEqual(comparable(fixture.store.archives()))
  expect(fresh.store.segments()).toEqual(fixture.store.segments())
  for (const [at, archive] of kept.entries())
    for (const part of archive.parts.keys()) expect(hashOf(fresh.restored(archive, part))).toEqual(bytes[at]![part])
  expect([countHits(fresh, 'alpha'), countHits(fresh, 'helper'), countHits(fresh, 'delta')]).toEqual([2, 2, 1])
  expect(isWhole(fresh)).toBe(true)
})

test('adopt brings back the title of an imported archive, and shortens a forged one', () => {
  const fixture = createArchiveHome()
  fixture.write('s1', said('alpha'))
  fixture.write('s2', said('beta'))
  fixture.write('s3', said('gamma'))
  fixture.keep('s1', { trigger: 'import', title: 'Fix the export' })
  const forged = record(fixture, fixture.keep('s2', { trigger: 'import', title: 'Sort the rows' }))
  writeFileSync(
    forged,
    readFileSync(forged, 'utf8').replace('Sort the rows', `\\u001b[2J[baton] ${'do it '.repeat(100)}`),
  )
  const odd = record(fixture, fixture.keep('s3', { trigger: 'import', title: 'Odd' }))
  writeFileSync(odd, readFileSync(odd, 'utf8').replace('"Odd"', '{"a":1}'))
  const { adopted } = withoutStore(fixture).archives.adopt()
  const [title, shortened, none] = ['s1', 's2', 's3'].map(
    (sessionId) => adopted.find((one) => one.sessionId === sessionId)!.title,
  )
  expect(title).toBe('Fix the export')
  expect(shortened).toMatch(/^\(baton\) do it .*…$/)
  expect(shortened).toHaveLength(80)
  expect(none).toBeUndefined()
})

test('adopt rebuilds a search index that was lost with the store', () => {
  const { fixture } = createFilledArchive()
  const fresh = withoutStore(fixture)
  rmSync(fresh.places.index)
  fresh.archives.adopt()
  expect([countHits(fresh, 'alpha'), countHits(fresh, 'gamma')]).toEqual([2, 2])
})

test('adopt run twice changes nothing the second time', () => {
  const { fixture } = createFilledArchive()
  const fresh = withoutStore(fixture)
  fresh.archives.adopt()
  const before = [fresh.store.archives(), fresh.store.segments()]
  expect(fresh.archives.adopt()).toEqual({ adopted: [], skipped: [] })
  expect([fresh.store.archives(), fresh.store.segments()]).toEqual(before)
})

test('adopt with dryRun reports what it would store and stores nothing', () => {
  const { fixture, kept } = createFilledArchive()
  const fresh = withoutStore(fixture)
  expect(fresh.archives.adopt({ dryRun: true }).adopted).toHaveLength(kept.length)
  expect([fresh.store.archives(), fresh.store.segments()]).toEqual([[], []])
})

test('adopt does not touch archives that the store knows', () => {
  const { fixture } = createFilledArchive()
  const before = fixture.store.archives()
  expect(fixture.archives.countUnknown()).toBe(0)
  expect(fixture.archives.adopt()).toEqual({ adopted: [], skipped: [] })
  expect(fixture.store.archives()).toEqual(before)
})

test('a session archived again after the store was lost keeps its old and its new archives', () => {
  const { fixture, kept, bytes } = createFilledArchive()
  const fresh = withoutStore(fixture)
  fresh.pass(3_600_000)
  cpSync(fixture.path('s1'), fresh.write('s1', ''))
  fresh.write('s1', said('after the loss'))
  const later = fresh.keep('s1', { trigger: 'request' })
  expect(fresh.archives.adopt().adopted).toHaveLength(kept.length)
  expect(hashOf(fresh.restored(kept[2]!))).toEqual(bytes[2]![0])
  expect(hashOf(fresh.restored(later))).toBe(hashOf(readFileSync(fresh.path('s1'))))
  expect(isWhole(fresh)).toBe(true)
})

test('adopted archives can be extended, forgotten and pruned like any others', () => {
  const { fixture, kept } = createFilledArchive()
  const fresh = withoutStore(fixture)
  fresh.archives.adopt()
  fresh.pass(3_600_000)
  cpSync(fixture.path('s1'), fresh.write('s1', ''))
  fresh.write('s1', said('epsilon'))
  const later = fresh.keep('s1')
  expect(later.parts[0]!.streamId).toBe(kept[0]!.parts[0]!.streamId)
  fresh.archives.remove(fresh.store.archives({ sessionId: 's1' }), { thorough: true })
  expect([fresh.files().length, readdirSync(fresh.places.records)]).toEqual([1, [`${kept[3]!.stem}.json`]])
  expect(countHits(fresh, 'alpha')).toBe(0)
})

test('forgotten archives are not adopted again, even if the process that forgot them was killed', () => {
  const { fixture, kept } = createFilledArchive()
  fixture.archives.remove(kept.slice(0, 3))
  const fresh = withoutStore(fixture)
  expect(fresh.archives.adopt().adopted.map(({ sessionId }) => sessionId)).toEqual(['s2'])
  // A process killed between deleting the row and the files leaves this state.
  const [last] = fresh.store.archives()
  fresh.store.transaction(() => {
    fresh.store.dropArchive(last!.archiveId)
    for (const { file } of fresh.store.segments()) {
      fresh.store.dropSegment(file)
      fresh.store.putLeftover(`file ${file}`)
    }
    fresh.store.putLeftover(`record ${last!.stem}.json`)
  })
  expect(fresh.archives.adopt()).toEqual({ adopted: [], skipped: [] })
})

test('pruning an archive that later ones build on keeps the later ones adoptable', () => {
  const { fixture, kept, bytes } = createFilledArchive()
  fixture.archives.remove([kept[0]!])
  const fresh = withoutStore(fixture)
  expect(fresh.archives.adopt()).toMatchObject({ adopted: [{}, {}, {}], skipped: [] })
  expect(fresh.store.archive(kept[0]!.archiveId)).toBeNull()
  expect(hashOf(fresh.restored(kept[2]!))).toEqual(bytes[2]![0])
})

test('an archive of an empty transcript is adopted', () => {
  const fixture = createArchiveHome()
  fixture.write('empty', '')
  const archive = fixture.keep('empty')
  const fresh = withoutStore(fixture)
  expect(fresh.archives.adopt()).toMatchObject({ adopted: [{ archiveId: archive.archiveId }], skipped: [] })
  expect(fresh.restored(archive).length).toBe(0)
})

test('archives kept before record files existed get one when the next archive is finished', () => {
  const { fixture, kept } = createFilledArchive()
  withoutRecords(fixture)
  fixture.write('s3', said('zeta'))
  fixture.keep('s3')
  expect(readdirSync(fixture.places.records)).toHaveLength(kept.length + 1)
  expect(statSync(record(fixture, kept[0]!)).mode & 0o777).toBe(0o600)
  expect(statSync(fixture.places.records).mode & 0o777).toBe(0o700)
})

test('without record files, every archive that stored something is rebuilt from file names and contents', () => {
  const { fixture, kept, bytes } = createFilledArchive()
  withoutRecords(fixture)
  const fresh = withoutStore(fixture)
  const { adopted, skipped } = fresh.archives.adopt()
  expect(skipped).toEqual([])
  expect(adopted.map(({ stem, sessionId, trigger, createdAt }) => ({ stem, sessionId, trigger, createdAt }))).toEqual(
    kept.map(({ stem, sessionId, trigger, createdAt }) => ({ stem, sessionId, trigger, createdAt })),
  )
  expect(adopted[0]).toMatchObject({ project: null, parts: [{ path: null, sha256: kept[0]!.parts[0]!.sha256 }, {}] })
  for (const [at, archive] of adopted.entries())
    for (const part of archive.parts.keys()) expect(hashOf(fresh.restored(archive, part))).toEqual(bytes[at]![part])
  expect([countHits(fresh, 'alpha'), countHits(fresh, 'helper')]).toEqual([2, 2])
  expect(fresh.archives.adopt()).toEqual({ adopted: [], skipped: [] })
  expect(readdirSync(fresh.places.records)).toHaveLength(adopted.length)
})

test('without record files, a transcript that was rewritten is not joined to the one before', () => {
  const fixture = createArchiveHome()
  fixture.write('s1', said('alpha') + said('beta'))
  const first = fixture.keep('s1')
  fixture.overwrite('s1', said('alpha') + said('another course'))
  const second = fixture.keep('s1')
  withoutRecords(fixture)
  const fresh = withoutStore(fixture)
  const { adopted } = fresh.archives.adopt()
  expect(adopted.map((one) => fresh.restored(one))).toEqual([fixture.restored(first), fixture.restored(second)])
})

test('the project of archives without record files is read from their transcript', () => {
  const fixture = createArchiveHome()
  fixture.write('s1', said('alpha'))
  fixture.keep('s1')
  withoutRecords(fixture)
  const fresh = createArchiveHome({ legacy: { agent: 'fixture', projectOfLine: () => '/found' } })
  cpSync(fixture.places.folder, fresh.places.folder, { recursive: true })
  expect(fresh.archives.adopt().adopted).toMatchObject([{ agent: 'fixture', project: '/found' }])
})

test('index entries of an archive that cannot be adopted are removed from the index', () => {
  const { fixture, kept } = createFilledArchive()
  const fresh = withoutStore(fixture)
  rmSync(segment(fresh, kept[3]!))
  fresh.archives.adopt()
  rmSync(record(fresh, kept[3]!))
  const streams = fresh.archives.search({ query: 'delta', limit: 5 })
  expect(streams).toEqual([])
  expect(readFileSync(fresh.places.index, 'latin1')).not.toContain(kept[3]!.parts[0]!.streamId)
})

const damages: [name: string, damage: (path: string) => void, reason: RegExp][] = [
  ['corrupt', (path) => writeFileSync(path, 'no brotli at all'), /cannot be unpacked/],
  ['truncated', (path) => truncateSync(path, statSync(path).size - 5), /cannot be unpacked/],
  ['empty', (path) => truncateSync(path, 0), /empty/],
  ['longer', (path) => appendFileSync(path, 'more'), /after its last block|cannot be unpacked/],
  ['missing', (path) => rmSync(path), /does not exist/],
  ['replaced by a folder', (path) => [rmSync(path), mkdirSync(path)], /not a regular file/],
  [
    'replaced by a symbolic link',
    (path) => [renameSync(path, `${path}.real`), symlinkSync(`${path}.real`, path)],
    /symbolic link/,
  ],
]

test.each(damages)(
  'a segment file that is %s is reported and skipped, and the rest is adopted',
  (_, damage, reason) => {
    const { fixture, kept, bytes } = createFilledArchive()
    const fresh = withoutStore(fixture)
    damage(segment(fresh, kept[1]!))
    const { adopted, skipped } = fresh.archives.adopt()
    expect(adopted.map(({ archiveId }) => archiveId)).toEqual([kept[0]!.archiveId, kept[3]!.archiveId])
    expect(skipped).toContainEqual({ path: segment(fresh, kept[1]!), reason: expect.stringMatching(reason) })
    expect(skipped.map(({ path }) => path)).toContain(record(fresh, kept[2]!))
    expect(hashOf(fresh.restored(kept[0]!))).toEqual(bytes[0]![0])
    expect(isWhole(fresh)).toBe(true)
    expect(fresh.archives.adopt()).toEqual({ adopted: [], skipped })
  },
)

// Without records, a missing file leaves no trace: the next file then seems to continue the first.
const visible = damages.filter(([name]) => name !== 'missing')

test.each(visible)(
  'without record files, a segment file that is %s is not skipped over when a stream is joined',
  (_, damage) => {
    const { fixture, kept, bytes } = createFilledArchive()
    withoutRecords(fixture)
    const fresh = withoutStore(fixture)
    damage(segment(fresh, kept[1]!))
    const { adopted, skipped } = fresh.archives.adopt()
    const restored = adopted.map((one) => hashOf(fresh.restored(one)))
    expect(restored).toEqual([bytes[0]![0], bytes[3]![0]])
    expect(skipped.map(({ path }) => path)).toEqual([segment(fresh, kept[1]!), segment(fresh, kept[2]!)])
  },
)

test('a damaged file of a subagent affects only that subagent, and is adopted once the file is restored', () => {
  const { fixture, kept, bytes } = createFilledArchive()
  const fresh = withoutStore(fixture)
  const path = join(fresh.places.folder, `${kept[2]!.stem}_agent-x.jsonl.br`)
  const good = readFileSync(path)
  writeFileSync(path, 'x')
  const { adopted, skipped } = fresh.archives.adopt()
  expect(adopted).toHaveLength(4)
  expect(skipped.map((one) => one.path)).toEqual([path])
  expect(fresh.store.archive(kept[2]!.archiveId)!.parts[1]).toMatchObject({ sha256: null, trouble: /needs/ })
  writeFileSync(path, good)
  expect(fresh.archives.adopt()).toMatchObject({ adopted: [{ archiveId: kept[2]!.archiveId }], skipped: [] })
  expect(hashOf(fresh.restored(kept[2]!, 1))).toEqual(bytes[2]![1])
  expect(countHits(fresh, '"helper gamma"')).toBe(1)
})

test('a damaged record file is reported, and its archive is rebuilt from its files with a new record', () => {
  const { fixture, kept, bytes } = createFilledArchive()
  const fresh = withoutStore(fixture)
  truncateSync(record(fresh, kept[3]!), 40)
  const { adopted, skipped } = fresh.archives.adopt()
  expect(skipped).toEqual([{ path: record(fresh, kept[3]!), reason: 'it is incomplete' }])
  expect(adopted).toHaveLength(4)
  expect(hashOf(fresh.restored(fresh.store.archives({ sessionId: 's2' })[0]!))).toEqual(bytes[3]![0])
  expect(JSON.parse(readFileSync(record(fresh, kept[3]!), 'utf8'))).toMatchObject({ session_id: 's2' })
})

test('an archive of a newer format is reported and skipped, and the others are adopted', () => {
  const { fixture, kept } = createFilledArchive()
  const fresh = withoutStore(fixture)
  const path = record(fresh, kept[3]!)
  const newer = JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), format: 2 })
  writeFileSync(path, newer)
  const { adopted, skipped } = fresh.archives.adopt()
  expect(adopted).toHaveLength(3)
  expect(skipped.map((one) => one.path)).toEqual([path, segment(fresh, kept[3]!)])
  expect(skipped[0]!.reason).toContain('newer version')
  expect(readFileSync(path, 'utf8')).toBe(newer)
})

test('a file with a trigger that this version does not know is reported and skipped', () => {
  const { fixture, kept } = createFilledArchive()
  withoutRecords(fixture)
  const fresh = withoutStore(fixture)
  const path = segment(fresh, kept[3]!)
  renameSync(path, path.replace('_auto', '_starlight'))
  const { adopted, skipped } = fresh.archives.adopt()
  expect(adopted).toHaveLength(3)
  expect(skipped).toMatchObject([{ path: path.replace('_auto', '_starlight') }])
})

test.skipIf(process.getuid?.() !== 0)('segment and record files of another user are reported and skipped', () => {
  const { fixture, kept } = createFilledArchive()
  const fresh = withoutStore(fixture)
  chownSync(segment(fresh, kept[0]!), 65_534, 65_534)
  chownSync(record(fresh, kept[3]!), 65_534, 65_534)
  chownSync(segment(fresh, kept[3]!), 65_534, 65_534)
  const { adopted, skipped } = fresh.archives.adopt()
  expect(adopted).toEqual([])
  const foreign = skipped
    .filter(({ reason }) => reason.startsWith('it belongs to another user'))
    .map(({ path }) => path)
  expect(foreign.sort()).toEqual([segment(fresh, kept[0]!), segment(fresh, kept[3]!), record(fresh, kept[3]!)].sort())
})

test('a record that names a file outside the archive folder is refused', () => {
  const { fixture, kept } = createFilledArchive()
  const fresh = withoutStore(fixture)
  const path = record(fresh, kept[3]!)
  const told = JSON.parse(readFileSync(path, 'utf8'))
  told.segments[0].file = '../../../etc/passwd'
  writeFileSync(path, JSON.stringify(told))
  const { skipped } = fresh.archives.adopt()
  expect(skipped).toEqual([{ path, reason: 'it is not the record of an archive' }])
})

test('a record copied under another name does not store the same archive twice', () => {
  const { fixture, kept } = createFilledArchive()
  const fresh = withoutStore(fixture)
  const told = JSON.parse(readFileSync(record(fresh, kept[3]!), 'utf8'))
  const stem = 's2_20270101T000000.000000Z_auto'
  writeFileSync(join(fresh.places.records, `${stem}.json`), JSON.stringify({ ...told, stem }))
  cpSync(record(fresh, kept[3]!), join(fresh.places.records, 'copy.json'))
  const { adopted, skipped } = fresh.archives.adopt()
  expect(adopted).toHaveLength(4)
  expect(skipped.map(({ reason }) => reason).sort()).toEqual([
    expect.stringContaining('same id'),
    'it is the record of another archive',
  ])
})

test('a file that unpacks to far more than its blocks should hold does not fill the memory', () => {
  const { fixture, kept } = createFilledArchive()
  const fresh = withoutStore(fixture)
  const quickly = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }
  writeFileSync(segment(fresh, kept[3]!), brotliCompressSync(Buffer.alloc(20_000_000), quickly))
  const { adopted, skipped } = fresh.archives.adopt()
  expect(adopted).toHaveLength(3)
  expect(skipped[0]!.reason).toContain('cannot be unpacked')
})

test('archives of sessions with unusual characters in their ids come back under the same ids', () => {
  const fixture = createArchiveHome()
  const ids = ['日本', '../up', 'a b', '_', `${'x'.repeat(200)}`]
  for (const id of ids) {
    const path = join(fixture.dir, 'odd.jsonl')
    writeFileSync(path, said(`words of ${id}`))
    fixture.keep(id, { transcript: path })
  }
  const fresh = withoutStore(fixture)
  expect(fresh.archives.adopt()).toMatchObject({ adopted: { length: ids.length }, skipped: [] })
  expect(fresh.store.archives().map(({ sessionId }) => sessionId)).toEqual(ids)
  withoutRecords(fixture)
  expect(withoutStore(fixture).archives.adopt()).toMatchObject({ adopted: { length: ids.length }, skipped: [] })
})
