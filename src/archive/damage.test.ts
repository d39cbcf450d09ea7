import { createHash, randomBytes } from 'node:crypto'
import { openSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { line, newTrial, type Trial } from '../testing/archive-home.js'
import { matchesSource } from './keep-part.js'

const said = (text: string): string => line({ by: 'user', text })
const noise = (bytes: number): string => line({ out: randomBytes(bytes / 2).toString('hex') })
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
function makeDamagedTrial(damage: (path: string) => void) {
  const trial = newTrial()
  for (const stage of ['one', 'two']) {
    trial.write('s1', said(`stage ${stage}`) + noise(700_000))
    trial.keep('s1')
  }
  damage(join(trial.places.folder, trial.files()[0]!))
  return trial
}

const states = (trial: Trial) => trial.archives.verify(trial.store.archives()).archives.map(({ state }) => state)

describe('archiving after an older file was damaged', () => {
  test.each(damages)(
    'after an older file %s, the next two archives start a new stream and are intact',
    (_name, damage) => {
      const trial = makeDamagedTrial(damage)
      trial.write('s1', said('stage three'))
      const third = trial.keep('s1')
      expect(trial.restored(third).equals(readFileSync(trial.path('s1')))).toBe(true)
      trial.write('s1', said('stage four'))
      const fourth = trial.keep('s1')
      expect(trial.restored(fourth).equals(readFileSync(trial.path('s1')))).toBe(true)
      expect(fourth.parts[0]!.streamId).toBe(third.parts[0]!.streamId)
      expect(trial.archives.view([fourth])[0]!.stored_bytes).toBeLessThan(1_000)
      expect(states(trial).map((state) => state === 'whole')).toEqual([false, false, true, true])
      expect(trial.archives.search({ query: '"stage one"', limit: 5 }).length).toBeGreaterThan(0)
    },
  )

  test.each(damages)(
    'after an older file %s, an archive of the unchanged transcript starts a new stream',
    (_name, damage) => {
      const trial = makeDamagedTrial(damage)
      const third = trial.keep('s1')
      expect(trial.restored(third).equals(readFileSync(trial.path('s1')))).toBe(true)
    },
  )

  test.each(damages)(
    'after an older file %s, an archive of a shorter transcript starts a new stream',
    (_name, damage) => {
      const trial = makeDamagedTrial(damage)
      const bytes = 720_000
      const third = trial.keep('s1', { bytes })
      expect(third).toMatchObject({ status: 'kept', reason: null })
      expect(trial.restored(third).equals(readFileSync(trial.path('s1')).subarray(0, bytes))).toBe(true)
    },
  )
})

describe('checking a stream before an archive builds on it', () => {
  test('the check of a long stream covers every file’s size and last block, and over time other blocks too', () => {
    const trial = newTrial()
    const text = noise(2_500_000)
    trial.write('s1', text)
    trial.keep('s1')
    const [segment] = trial.store.segments()
    const path = join(trial.places.folder, segment!.file)
    const whole = readFileSync(path)
    const source = openSync(trial.path('s1'), 'r')
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
        (n) => !matchesSource(trial.places.folder, [segment!, ...rest(n)], source, limit),
      )
      writeFileSync(path, whole)
      return looks.length
    }
    expect(matchesSource(trial.places.folder, [segment!], source, limit)).toBe(true)
    expect(seen(segment!.blocks.length - 1)).toBe(5)
    for (let block = 0; block < segment!.blocks.length - 1; block++) expect(seen(block)).toBe(1)
    truncateSync(path, whole.length - 1)
    expect(matchesSource(trial.places.folder, [segment!], source, limit)).toBe(false)
  })

  test('ten archives of a growing transcript take as much space as the last one alone', () => {
    const trial = newTrial()
    const alone = newTrial()
    for (let i = 0; i < 10; i++) {
      trial.write('s1', noise(200_000))
      trial.keep('s1')
    }
    alone.write('s1', readFileSync(trial.path('s1')))
    alone.keep('s1')
    const disk = ({ files, places }: Trial): number =>
      files().reduce((sum, file) => sum + statSync(join(places.folder, file)).size, 0)
    expect(disk(trial) / disk(alone)).toBeLessThan(1.3)
  })
})

describe('while an archive is copied', () => {
  test('a file that does not read back as it was written is not renamed into place', () => {
    const trial = newTrial()
    trial.write('s1', said('good'))
    const planned = trial.plan('s1')!
    trial.archives.finish({
      progress(what) {
        const [name] = readdirSync(trial.places.folder).filter((one) => one.startsWith('.'))
        if (what === 'keep') writeFileSync(join(trial.places.folder, name!), brotliCompressSync(said('evil')))
      },
    })
    expect(trial.store.archive(planned.archiveId)).toMatchObject({
      status: 'failed',
      reason: 'what was written does not read back as it was',
    })
    expect(trial.files()).toEqual([])
    trial.pass(3_600_000)
    trial.archives.finish()
    expect(trial.restored(planned).toString()).toBe(said('good'))
  })

  test('an archive whose older files were removed meanwhile is not kept on them, and starts again by itself', () => {
    const trial = newTrial()
    trial.write('s1', said('old'))
    const first = trial.keep('s1')
    trial.write('s1', said('new'))
    const second = trial.plan('s1')!
    let removed = false
    trial.archives.finish({
      progress(what) {
        if (what === 'keep' && !removed) trial.archives.remove([first])
        removed = true
      },
    })
    expect(trial.store.archive(second.archiveId)).toMatchObject({
      status: 'failed',
      reason: 'older archives it builds on were removed meanwhile',
    })
    trial.pass(3_600_000)
    trial.archives.finish()
    expect(sha(trial.restored(second))).toBe(sha(readFileSync(trial.path('s1'))))
    expect(trial.archives.verify(trial.store.archives())).toMatchObject({ archives: [{ state: 'whole' }], extra: [] })
  })

  test('a process that died after renaming a file leaves nothing once the archive is removed', () => {
    const trial = newTrial()
    trial.write('s1', said('x'))
    trial.write('agent-a', said('y'))
    const planned = trial.plan('s1', { subagents: ['agent-a'] })!
    for (const end of ['', '_agent-a'])
      writeFileSync(join(trial.places.folder, `${planned.stem}${end}.jsonl.br`), 'named')
    trial.archives.remove([planned])
    expect(trial.files()).toEqual([])
  })
})
