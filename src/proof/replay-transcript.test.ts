import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { transcriptReaders } from '../agents/readers.js'
import { FIRST_RECOVERY } from '../compaction/recovery.js'
import { DEFAULT_AGENT } from '../contract/agent-ids.js'
import { type Piece, transcriptOf } from '../testing/compacted-transcript.js'
import { type ReplayedCompaction, replayTranscript } from './replay-transcript.js'

function replay(...pieces: Piece[]): ReplayedCompaction[] {
  const folder = mkdtempSync(join(tmpdir(), 'baton-replay-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'session.jsonl')
  writeFileSync(file, transcriptOf(pieces))
  return replayTranscript(transcriptReaders[DEFAULT_AGENT]!, file).compactions
}

const request: Piece = { user: 'Count the orders of the shop.' }
const counted: Piece = { bash: 'make count', prints: 'see src/orders/count.ts and batch 8812004417' }

test('a token is needed if only the time before introduced it and the agent used it afterwards', () => {
  const [one] = replay(
    request,
    counted,
    { summary: 'Orders are counted in src/orders/count.ts.' },
    { bash: 'node src/orders/count.ts --batch 8812004417 --shop northern_shop', prints: 'ok' },
  )
  expect(one).toMatchObject({ calls: 1, needed: 2 })
  expect(one!.arms.summary.kept).toBe(1)
})

test('a token that a result or prompt showed again before its use is not needed', () => {
  const again: Piece[] = [
    { bash: 'git grep batch', prints: 'batch 8812004417' },
    { user: 'It is in src/orders/count.ts.' },
    { bash: 'node src/orders/count.ts 8812004417', prints: '' },
  ]
  expect(replay(request, counted, { summary: 'Orders are counted.' }, ...again)[0]!.needed).toBe(0)
})

test('a token used only after forty calls is not needed', () => {
  const others = Array.from({ length: 40 }, (_, i): Piece => ({ bash: `step ${i}`, prints: '' }))
  const late: Piece = { bash: 'node src/orders/count.ts', prints: '' }
  const early = replay(request, counted, { summary: '' }, ...others.slice(1), late)
  expect(early[0]).toMatchObject({ calls: 40, needed: 1 })
  expect(replay(request, counted, { summary: '' }, ...others, late)[0]).toMatchObject({ calls: 40, needed: 0 })
})

test('text written to a file counts only what the agent did not learn from that file', () => {
  const edit: Piece = { edit: 'src/orders/sum.ts', writes: 'orderTotal(batchLimit)' }
  const both = replay(
    request,
    { read: 'src/orders/sum.ts', prints: 'export const orderTotal = 1' },
    { bash: 'cat notes', prints: 'use batchLimit in src/orders/sum.ts' },
    { summary: 'src/orders/sum.ts' },
    edit,
  )
  // The path and batchLimit. The client requires the file to be known, so orderTotal was on screen.
  expect(both[0]!.needed).toBe(2)
})

test('rereads and reruns are counted once each, and avoidable if the text has all that was used of them', () => {
  const [one] = replay(
    request,
    { read: 'src/orders/count.ts', prints: 'const queueName = "orders_north"' },
    { bash: 'make count', prints: 'total 7120994411' },
    { summary: 'The queue is orders_north.' },
    { read: 'src/orders/count.ts', prints: 'const queueName = "orders_north"' },
    { read: 'src/orders/count.ts', prints: 'const queueName = "orders_north"' },
    { bash: 'drain orders_north', prints: '' },
    { bash: 'make  count', prints: 'total 7120994411' },
    { bash: 'report 7120994411', prints: '' },
  )
  expect(one).toMatchObject({ rereads: 1, reruns: 1, happened: 'summary' })
  expect(one!.arms.summary.avoidable).toBe(1)
  expect(one!.arms['last messages'].avoidable).toBe(2)
})

test('the arm that happened is recovery if the transcript shows that Baton put facts back', () => {
  const [one] = replay(
    request,
    counted,
    { summary: 'Counted.' },
    { user: `<system-reminder>\n${FIRST_RECOVERY} src/orders/count.ts\n</system-reminder>` },
    { bash: 'node src/orders/count.ts', prints: '' },
  )
  expect(one).toMatchObject({ happened: 'summary and recovery', needed: 1 })
})

test('recovery and brief hold the rule that the summary lacks, and each text has its own size', () => {
  const [one] = replay(
    { user: 'Count the orders. Never change prices.csv.' },
    counted,
    { agent: 'I will count the next batch.' },
    { summary: 'The user wants the orders counted.' },
  )
  const { arms } = one!
  expect(arms.summary.facts.constraint).toEqual({ kept: 0, of: 1 })
  expect(arms['summary and recovery'].facts.constraint).toEqual({ kept: 1, of: 1 })
  expect(arms.brief.facts.constraint).toEqual({ kept: 1, of: 1 })
  expect(arms.summary.characters).toBeLessThan(arms['summary and recovery'].characters)
  expect(arms.brief.characters).toBeLessThanOrEqual(9_000)
  expect(arms['last messages'].characters).toBeLessThanOrEqual(arms.brief.characters)
})

test('a compaction without a summary is counted apart', () => {
  expect(replay(request, counted, { summary: null }, request)).toEqual([])
})
