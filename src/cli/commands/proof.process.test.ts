import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTestHome } from '../../testing/cli-home.js'
import { transcriptOf } from '../../testing/compacted-transcript.js'

const COMPACTED = transcriptOf([
  { user: 'Count the orders. Never change prices.csv.' },
  { bash: 'make count', prints: 'see src/orders/count.ts and batch 8812004417' },
  { summary: 'Orders are counted in src/orders/count.ts.' },
  { bash: 'node src/orders/count.ts --batch 8812004417', prints: 'ok' },
])

test('proof replays the compactions of a folder, draws them, and keeps its figures for the next run', async () => {
  const home = createTestHome()
  const folder = join(home.user, 'exported', 'deep')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'first.jsonl'), COMPACTED)
  writeFileSync(join(folder, 'copy of first.jsonl'), COMPACTED)
  symlinkSync('nowhere', join(folder, 'gone.jsonl'))
  const svg = join(home.user, 'proof.svg')
  const words = ['proof', '--transcripts', join(home.user, 'exported'), '--json']
  const ran = await home.run([...words, '--svg', svg])
  expect(ran.code).toBe(0)
  expect(ran.json).toMatchObject({
    compactions: 1,
    transcripts: 2,
    unreadable: [{ path: join(folder, 'gone.jsonl') }],
    arms: [
      { name: 'summary', needed: { kept: 1, of: 2 }, rereads: 0, avoidable: null },
      { name: 'summary and recovery', rereads: null, avoidable: 0 },
      { name: 'brief', facts: { constraint: { kept: 1, of: 1 } } },
      { name: 'last messages' },
    ],
    verdict: expect.stringContaining('needed token'),
  })
  expect(readFileSync(svg, 'utf8')).toContain('</svg>')
  const kept = readdirSync(join(home.env.BATON_HOME!, 'facts')).map((name) => join(home.env.BATON_HOME!, 'facts', name))
  expect(kept).toHaveLength(2)
  expect(kept.some((file) => readFileSync(file, 'utf8').includes('8812004417'))).toBe(false)
  // The second run takes the figures from there, which a changed figure shows.
  for (const file of kept) writeFileSync(file, readFileSync(file, 'utf8').replaceAll('"needed":2', '"needed":5'))
  expect((await home.run(words)).json.arms[0].needed.of).toBe(5)
  expect((await home.run(['proof', '--transcripts', folder])).stdout).toMatch(/summary +\d+ +1 of 5 +20%/)
})

test('proof says clearly when there is no folder, no transcript or no compaction', async () => {
  const home = createTestHome()
  expect(await home.run(['proof', '--transcripts', join(home.user, 'missing')])).toMatchObject({ code: 3 })
  const empty = await home.run(['proof'])
  expect(empty.code).toBe(3)
  expect(empty.stdout).toMatch(/^No transcripts of your agents were found\./)
  const folder = join(home.user, 'exported')
  mkdirSync(folder)
  writeFileSync(join(folder, 'a.jsonl'), transcriptOf([{ user: 'hello' }]))
  const none = await home.run(['proof', '--transcripts', folder, '--json'])
  expect(none).toMatchObject({ code: 3, json: { compactions: 0, transcripts: 1 } })
  expect(none.json.verdict).toMatch(/^No compaction was found in 1 transcript in /)
  expect((await home.run(['proof', '--days', 'many'])).code).toBe(2)
  expect(existsSync(join(home.user, 'proof.svg'))).toBe(false)
})
