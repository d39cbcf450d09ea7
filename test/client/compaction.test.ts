import { expect, test } from 'vitest'
import type { ScriptInput } from '../../src/model/script.js'
import { runPrint } from '../harness/run-print.js'
import { mainRequests, type Stage, stage, words } from '../harness/stage.js'

const AFTER: ScriptInput['after_compaction'] = [
  { bash: 'echo d', used: 30_008 },
  { bash: 'echo e', used: 110_008 },
  { bash: 'echo f', used: 111_008 },
  { bash: 'echo g', used: 112_008 },
  { text: 'Done.', used: 113_008 },
]

/**
 * Checks the climb after a compaction: a new cycle, its own figures, only the first level reported
 * again.
 */
async function expectSecondClimb(it: Stage): Promise<void> {
  expect(await it.session()).toMatchObject({ cycle: 2, compactions: 1, used_tokens: 113_008, level: 'notice' })
  const events = await it.events()
  const second = events.findIndex((event) => event.type === 'cycle_started' && event.data.cycle === 2)
  expect(events[second]!.data.reason).toBe('compaction')
  const after = events.slice(second).filter((event) => event.type === 'reading')
  expect([30_008, 110_008, 111_008, 112_008, 113_008]).toEqual(
    expect.arrayContaining(after.map((e) => e.data.used_tokens)),
  )
  expect(after.every((event) => event.data.cycle === 2)).toBe(true)
  const crossed = events
    .filter((event) => event.type === 'level_crossed')
    .map((event) => [event.data.cycle, event.data.level])
  expect(crossed.filter(([cycle]) => cycle === 2)).toEqual([[2, 'notice']])
  const counts = mainRequests(it.model)
    .filter((entry) => entry.cycle === 1)
    .map((entry) => words(entry, /Context level "\w+": 11\d,\d{3} tokens/g).length)
  const first = counts.indexOf(1)
  expect(counts).toEqual(counts.map((_, i) => (i < first ? 0 : 1)))
  expect(first).toBeGreaterThan(1)
  expect(first).toBeLessThanOrEqual(3)
}

test('a compaction at 167,000 tokens starts a new cycle with new warnings', async () => {
  const it = await stage(
    {
      steps: [
        { bash: 'echo a', used: 100_008 },
        { bash: 'echo b', used: 150_008 },
        { bash: 'echo b', used: 151_008 },
        { bash: 'echo c', used: 169_008 },
        'Never said.',
      ],
      after_compaction: AFTER,
    },
    { mod: true, server: false },
  )
  const run = await runPrint(it.home, { prompt: 'go', model: 'claude-opus-4-6' })
  expect(run.result).toMatchObject({ result: 'Done.', is_error: false })
  await expectSecondClimb(it)
  expect(await it.events('compaction_start')).toMatchObject([
    {
      data: {
        triggerReason: 'threshold_exceeded',
        contextUsedPercent: 100,
        contextRemainingPercent: 0,
        compactionTokens: 167_000,
      },
    },
  ])
  const [complete, ...more] = await it.events('compaction_complete')
  expect(more).toEqual([])
  expect(complete!.data).toMatchObject({
    outcome: 'completed',
    triggerReason: 'threshold_exceeded',
    tokensBefore: 169_008,
  })
  expect(complete!.data.tokensAfter).toBeLessThan(30_008)
  expect(complete!.data.tokensSaved).toBe(169_008 - Number(complete!.data.tokensAfter))
  expect(complete!.data).not.toHaveProperty('overflow')
  const levels = (await it.events('level_crossed')).map((event) => [event.data.cycle, event.data.level])
  expect(levels.filter(([cycle]) => cycle === 1).map(([, level]) => level)).toEqual([
    'notice',
    'warning',
    'handoff',
    'critical',
  ])
  const said = run.messages.filter(
    (m) => m.subtype === 'informational' && /This conversation was compacted/.test(String(m.content)),
  )
  expect(said).toHaveLength(1)
})

test('a compaction after an API refusal is reported as an overflow', async () => {
  const it = await stage(
    {
      steps: [
        { bash: 'echo a', used: 100_008 },
        { bash: 'echo b', used: 190_008 },
        { bash: 'echo c', used: 191_008 },
        { text: 'Never.', fail: 'too-long' },
      ],
      after_compaction: AFTER,
    },
    { mod: false, server: true },
  )
  const run = await runPrint(it.home, { prompt: 'go', model: 'claude-sonnet-4-5' })
  expect(run.result).toMatchObject({ result: 'Done.', is_error: false })
  await expectSecondClimb(it)
  expect(await it.session()).toMatchObject({ compaction_mode: 'reactive', compaction_tokens: 167_000 })
  expect(await it.events('compaction_start')).toHaveLength(1)
  expect((await it.events('compaction_complete')).map((event) => event.data)).toMatchObject([
    { outcome: 'completed', overflow: true, tokensBefore: 191_008 },
  ])
  // This model compacts only after an API refusal, so its figures pass the compaction point.
  const beyond = mainRequests(it.model).flatMap((entry) =>
    words(entry, /11[34]\.\d% of the compaction point.{0,60}window; above 100% because/g),
  )
  expect(beyond.length).toBeGreaterThan(0)
})
