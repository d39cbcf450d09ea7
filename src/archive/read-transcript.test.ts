import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Entry } from '../contract/conversation.js'
import { type ArchiveHome, createArchiveHome } from '../testing/archive-home.js'
import { makeBlocks } from './blocks.js'
import { type LineStart, readTranscript, type TranscriptRange } from './read-transcript.js'

/** Parses one entry per line; its text is the whole line. */
const read: TranscriptRange['read'] = (line, number): Entry[] =>
  line.startsWith('{') ? [] : [{ kind: 'said', by: 'agent', text: line, line: number, at: null }]

function pages(
  fixture: ArchiveHome,
  name: string,
  limit: number,
  places: LineStart[] = [],
  blocks = fixture.archives.blocks,
) {
  const [part] = fixture.keep(name).parts
  const segments = fixture.archives.segments(part!.streamId)
  return (from: number) =>
    readTranscript(blocks, { segments, bytes: part!.bytes, read, from, before: null, limit, places, whole: false })
}

async function all(page: ReturnType<typeof pages>, from = 1) {
  const found: { line: number; text: string }[] = []
  for (let next: number | null = from; next !== null; ) {
    const { entries, next_line } = await page(next)
    found.push(...entries.map(({ line, text }) => ({ line, text })))
    next = next_line
  }
  return found
}

describe('reading a kept transcript', () => {
  test('a kept transcript is read page by page, every line once and with its number', async () => {
    const fixture = createArchiveHome()
    const lines = Array.from({ length: 5_000 }, (_, i) => `line ${i + 1} ${'é'.repeat(i % 700)}`)
    fixture.write('s1', `${lines.join('\n')}\n`)
    const places: LineStart[] = []
    const page = pages(fixture, 's1', 300, places)
    const told = await all(page)
    expect(told.map(({ text }) => text)).toEqual(lines)
    expect(told.map(({ line }) => line)).toEqual(lines.map((_, i) => i + 1))
    // A page read before is found again without starting at the first line.
    expect(places.length).toBeGreaterThan(5)
    expect((await page(4_321)).entries[0]).toMatchObject({ line: 4_321, text: lines[4_320] })
  })

  test('reading ends with a last line without a newline, and nothing follows it', async () => {
    const fixture = createArchiveHome()
    fixture.write('s1', 'one\n{"nothing":"said"}\nthree')
    const page = pages(fixture, 's1', 10)
    expect(await all(page)).toEqual([
      { line: 1, text: 'one' },
      { line: 3, text: 'three' },
    ])
    expect(await page(99)).toMatchObject({ entries: [], next_line: null, lines: 3 })
  })

  test('long texts are cut and marked, and a line beyond the limit is skipped but counted', async () => {
    const fixture = createArchiveHome()
    fixture.write('s1', `${'x'.repeat(30_000)}\n${'y'.repeat(17 * 1024 * 1024)}\nlast\n`)
    const { entries } = await pages(fixture, 's1', 10)(1)
    expect(entries.map(({ line, cut }) => [line, cut])).toEqual([
      [1, true],
      [3, false],
    ])
    expect(entries[0]!.text).toHaveLength(20_000)
  })

  test('a page is filled by the amount of text, not only by the number of entries', async () => {
    const fixture = createArchiveHome()
    fixture.write('s1', `${Array.from({ length: 200 }, () => 'z'.repeat(19_000)).join('\n')}\n`)
    const { entries, next_line } = await pages(fixture, 's1', 1_000)(1)
    expect(entries.length).toBeLessThan(50)
    expect(next_line).toBe(entries.length + 1)
  })

  test('reading yields to other work between chunks and holds little in memory', async () => {
    const fixture = createArchiveHome()
    fixture.write('s1', `${Array.from({ length: 60 }, (_, i) => `${i} ${'w'.repeat(1024 * 1024)}`).join('\n')}\n`)
    const page = pages(fixture, 's1', 10)
    let turns = 0
    const turn = (): void => {
      turns++
      next = setImmediate(turn)
    }
    let next = setImmediate(turn)
    const before = process.memoryUsage().rss
    expect((await page(58)).entries.map(({ line }) => line)).toEqual([58, 59, 60])
    clearImmediate(next)
    expect(turns).toBeGreaterThan(5)
    expect(process.memoryUsage().rss - before).toBeLessThan(150 * 1024 * 1024)
  })

  test('a transcript whose file is missing is reported as damaged', async () => {
    const fixture = createArchiveHome()
    fixture.write('s1', 'one\n')
    const page = pages(fixture, 's1', 10, [], makeBlocks(fixture.places.folder, 0))
    for (const file of fixture.files()) rmSync(join(fixture.places.folder, file), { recursive: true })
    await expect(page(1)).rejects.toMatchObject({ name: 'DamagedArchive' })
  })
})
