import { describe, expect, test } from 'vitest'
import { createArchiveHome, jsonLine } from '../testing/archive-home.js'
import { readSimpleLine } from './fixtures/simple-line.js'
import { readTranscript, type TranscriptRange } from './read-transcript.js'

/** Returns line n; every third line has no text. */
const said = (n: number): string =>
  n % 3 === 0 ? jsonLine({ kind: 'mode' }) : jsonLine({ by: n % 2 ? 'user' : 'agent', text: `line ${n}` })

function keepTranscript(text: string) {
  const fixture = createArchiveHome()
  fixture.write('s1', text)
  const part = fixture.keep('s1').parts[0]!
  const places: TranscriptRange['places'] = []
  return (range: Partial<TranscriptRange>) =>
    readTranscript(fixture.archives.blocks, {
      segments: fixture.archives.segments(part.streamId),
      bytes: part.bytes,
      places,
      read: readSimpleLine,
      from: 1,
      before: null,
      limit: 100,
      whole: false,
      ...range,
    })
}
const linesOf = ({ entries }: { entries: { line: number }[] }) => entries.map((entry) => entry.line)

describe('reading a kept transcript in both directions', () => {
  const LINES = 4_000
  const long = Array.from({ length: LINES }, (_, n) => said(n + 1)).join('')
  const speaking = Array.from({ length: LINES }, (_, n) => n + 1).filter((n) => n % 3 !== 0)

  test('a kept transcript can be read from its end to its beginning, each line once', async () => {
    const read = keepTranscript(long)
    const last = await read({ before: 999_999_999 })
    expect([last.next_line, last.entries.length]).toEqual([null, 100])
    const seen = linesOf(last)
    for (let before = last.previous_line; before !== null; ) {
      const part = await read({ before })
      expect(part.next_line).toBe(before)
      seen.unshift(...linesOf(part))
      before = part.previous_line
    }
    expect(seen).toEqual(speaking)
  })

  test('the entries before a line and from that line on are adjacent, at any line', async () => {
    const read = keepTranscript(long)
    for (const at of [1, 2, 3, 500, 501, 502, 2_741, LINES, LINES + 1, LINES + 9]) {
      const [back, on] = [await read({ before: at, limit: 7 }), await read({ from: at, limit: 7 })]
      const place = speaking.findIndex((n) => n >= at)
      const here = place < 0 ? speaking.length : place
      expect([linesOf(back), linesOf(on)]).toEqual([
        speaking.slice(Math.max(0, here - 7), here),
        speaking.slice(here, here + 7),
      ])
    }
  })

  test('reading backwards finds text far away from the given line', async () => {
    const read = keepTranscript(jsonLine({ by: 'user', text: 'once' }) + jsonLine({ kind: 'mode' }).repeat(3_000))
    expect(linesOf(await read({ before: 3_001, limit: 5 }))).toEqual([1])
    expect((await read({ before: 3_001, limit: 5 })).previous_line).toBeNull()
  })

  test('a text that was cut is returned whole on request', async () => {
    const read = keepTranscript(
      jsonLine({ by: 'agent', text: 'x'.repeat(30_000) }) + jsonLine({ by: 'user', text: 'last' }).trimEnd(),
    )
    const [first, second] = (await read({})).entries
    expect([first?.text.length, first?.cut, second?.text]).toEqual([20_000, true, 'last'])
    const whole = await read({ limit: 1, whole: true })
    expect([whole.entries.length, whole.entries[0]?.text.length, whole.entries[0]?.cut]).toEqual([1, 30_000, false])
    expect(whole.lines).toBe(2)
  })
})
