import { createHash, randomBytes } from 'node:crypto'
import { openSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { type ArchiveHome, createArchiveHome, jsonLine } from '../testing/archive-home.js'
import { matchesSource } from './keep-part.js'

const said = (text: string): string => jsonLine({ by: 'user', text })
const noise = (bytes: number): string => jsonLine({ out: randomBytes(bytes / 2).toString('hex') })
const sha = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

function flipByte(path: string, at: number): void {
  const bytes = readFileSync(path)
  bytes[at]! ^= 0x10
  writeFileSync(path, bytes)
}

const damages: [name: string, damage: (path: string) => void][] = [
  ['was removed', (path) => rmSync(path)],
  ['was truncated', (path) => truncateSync(path, 1_000)],
  ['got a flipped byte at its beginning', (path) => flipByte(path, 40)],
  ['got a flipped byte in its middle', (path) => flipByte(path, statSync(path).size >> 1)],
  ['was replaced by random bytes of the same size', (path) => writeFileSync(path, randomBytes(statSync(path).size))],
]

/**
 * Creates two archives of s1 with three blocks of noise each, and damages the file of the first.
 */
function createDamagedArchive(damage: (path: string) => void) {
  const fixture = createArchiveHome()
  for (const stage of ['one', 'two']) {
    fixture.write('s1', said(`stage ${stage}`) + noise(700_000))
    fixture.keep('s1')
  }
  damage(join(fixture.places.folder, fixture.files()[0]!))
  return fixture
}

const states = (fixture: ArchiveHome) =>
  fixture.archives.verify(fixture.store.archives()).archives.map(({ state }) => state)

describe('archiving after an older file was damaged', () => {
  test.each(damages)(
    'after an older file %s, the next two archives start a new stream and are intact',
    (_name, damage) => {
      const fixture = createDamagedArchive(damage)
      fixture.write('s1', said('stage three'))
      const third = fixture.keep('s1')
      expect(fixture.restored(third).equals(readFileSync(fixture.path('s1')))).toBe(true)
      fixture.write('s1', said('stage four'))
      const fourth = fixture.keep('s1')
      expect(fixture.restored(fourth).equals(readFileSync(fixture.path('s1')))).toBe(true)
      expect(fourth.parts[0]!.streamId).toBe(third.parts[0]!.streamId)
      expect(fixture.archives.view([fourth])[0]!.stored_bytes).toBeLessThan(1_000)
      expect(states(fixture).map((state) => state === 'whole')).toEqual([false, false, true, true])
      expect(fixture.archives.search({ query: '"stage one"', limit: 5 }).length).toBeGreaterThan(0)
    },
  )

  test.each(damages)(
    'after an older file %s, an archive of the unchanged transcript starts a new stream',
    (_name, damage) => {
      const fixture = createDamagedArchive(damage)
      const third = fixture.keep('s1')
      expect(fixture.restored(third).equals(readFileSync(fixture.path('s1')))).toBe(true)
    },
  )

  test.each(damages)(
    'after an older file %s, an archive of a shorter transcript starts a new stream',
    (_name, damage) => {
      const fixture = createDamagedArchive(damage)
      const bytes = 720_000
      const third = fixture.keep('s1', { bytes })
      expect(third).toMatchObject({ status: 'kept', reason: null })
      expect(fixture.restored(third).equals(readFileSync(fixture.path('s1')).subarray(0, bytes))).toBe(true)
    },
  )
})

describe('checking a stream before an archive builds on it', () => {
  test('the check of a long stream covers every file’s size and last block, and over time other blocks too', () => {
    const fixture = createArchiveHome()
    const text = noise(2_500_000)
    fixture.write('s1', text)
    fixture.keep('s1')
    const [segment] = fixture.store.segments()
    const path = join(fixture.places.folder, segment!.file)
    const whole = readFileSync(path)
    const source = openSync(fixture.path('s1'), 'r')
    const limit = 600_000
    const offset = (block: number): number => segment!.blocks.slice(0, block).reduce((sum, size) => sum + size, 0)
    /**
     * Counts in how many of five checks, each with one more
     * file, a flipped byte in a block is detected.
     */
    const seen = (block: number): number => {
      flipByte(path, offset(block) + 60)
      const rest = (n: number) => Array.from({ length: n }, () => ({ ...segment!, from: segment!.to, blocks: [] }))
      const looks = [0, 1, 2, 3, 4].filter(
        (n) => !matchesSource(fixture.places.folder, [segment!, ...rest(n)], source, limit),
      )
      writeFileSync(path, whole)
      return looks.length
    }
    expect(matchesSource(fixture.places.folder, [segment!], source, limit)).toBe(true)
    expect(seen(segment!.blocks.length - 1)).toBe(5)
    for (let block = 0; block < segment!.blocks.length - 1; block++) expect(seen(block)).toBe(1)
    truncateSync(path, whole.length - 1)
    expect(matchesSource(fixture.places.folder, [segment!], source, limit)).toBe(false)
  })

  test('ten archives of a growing transcript take as much space as the last one alone', () => {
    const fixture = createArchiveHome()
    const alone = createArchiveHome()
    for (let i = 0; i < 10; i++) {
      fixture.write('s1', noise(200_000))
      fixture.keep('s1')
    }
    alone.write('s1', readFileSync(fixture.path('s1')))
    alone.keep('s1')
    const disk = ({ files, places }: ArchiveHome): number =>
      files().reduce((sum, file) => sum + statSync(join(places.folder, file)).size, 0)
    expect(disk(fixture) / disk(alone)).toBeLessThan(1.3)
  })
})

describe('while an archive is copied', () => {
  test('a file that does not read back as it was written is not renamed into place', () => {
    const fixture = createArchiveHome()
    fixture.write('s1', said('good'))
    const planned = fixture.plan('s1')!
    fixture.archives.finish({
      progress(what) {
        const [name] = readdirSync(fixture.places.folder).filter((one) => one.startsWith('.'))
        if (what === 'keep') writeFileSync(join(fixture.places.folder, name!), brotliCompressSync(said('evil')))
      },
    })
    expect(fixture.store.archive(planned.archiveId)).toMatchObject({
      status: 'failed',
      reason: 'the written file differs from the transcript',
    })
    expect(fixture.files()).toEqual([])
    fixture.pass(3_600_000)
    fixture.archives.finish()
    expect(fixture.restored(planned).toString()).toBe(said('good'))
  })

  test('an archive whose older files were removed meanwhile is not kept on them, and starts again by itself', () => {
    const fixture = createArchiveHome()
    fixture.write('s1', said('old'))
    const first = fixture.keep('s1')
    fixture.write('s1', said('new'))
    const second = fixture.plan('s1')!
    let removed = false
    fixture.archives.finish({
      progress(what) {
        if (what === 'keep' && !removed) fixture.archives.remove([first])
        removed = true
      },
    })
    expect(fixture.store.archive(second.archiveId)).toMatchObject({
      status: 'failed',
      reason: 'the older archives that it builds on were removed in the meantime',
    })
    fixture.pass(3_600_000)
    fixture.archives.finish()
    expect(sha(fixture.restored(second))).toBe(sha(readFileSync(fixture.path('s1'))))
    expect(fixture.archives.verify(fixture.store.archives())).toMatchObject({
      archives: [{ state: 'whole' }],
      extra: [],
    })
  })

  test('a process that died after renaming a file leaves nothing once the archive is removed', () => {
    const fixture = createArchiveHome()
    fixture.write('s1', said('x'))
    fixture.write('agent-a', said('y'))
    const planned = fixture.plan('s1', { subagents: ['agent-a'] })!
    for (const end of ['', '_agent-a'])
      writeFileSync(join(fixture.places.folder, `${planned.stem}${end}.jsonl.br`), 'named')
    fixture.archives.remove([planned])
    expect(fixture.files()).toEqual([])
  })
})
