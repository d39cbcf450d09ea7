import { expect, test } from 'vitest'
import type { ScriptInput } from '../../src/model/script.js'
import { boundaries, expectWhole, pairsOf, settledArchives } from '../harness/compactions.js'
import { runPrint, startPrint } from '../harness/run-print.js'
import { stage } from '../harness/stage.js'
import { until } from '../harness/wait.js'

const PROACTIVE = 'claude-opus-4-6'
const CLIMB: ScriptInput['steps'] = [
  { bash: 'echo a', used: 100_008 },
  { bash: 'echo b', used: 168_008, grow: 500, repeat: 3 },
  { text: 'Done.', used: 172_000 },
]

test('compactions that free too little are reported, and finally that the client gave up', async () => {
  const again: ScriptInput['steps'] = [{ bash: 'echo d', used: 168_008 }, 'Never.']
  const it = await stage(
    { steps: [{ bash: 'echo a', used: 100_008 }, ...again], after_compaction: [again, again, again, again] },
    { mod: false, server: true },
  )
  const run = await runPrint(it.home, { prompt: 'go', model: PROACTIVE })
  expect(run.result).toMatchObject({ is_error: true, terminal_reason: 'rapid_refill_breaker' })
  const pairs = await pairsOf(it)
  expect(pairs.map(({ outcome }) => outcome)).toEqual(['completed', 'completed', 'completed', 'thrashing'])
  const told = boundaries(it.home.transcript(run.sessionId!)!)
  expect(told).toHaveLength(3)
  for (const [index, { postTokens, durationMs }] of told.entries()) {
    expect(pairs[index]).toMatchObject({
      tokensBefore: 168_008,
      tokensAfter: postTokens,
      tokensSaved: 168_008 - postTokens,
      durationMs,
    })
    expect(pairs[index]!.summary).toContain(`[scripted summary 0.${index + 1}.1]`)
  }
  expect(pairs[3]).toMatchObject({ tokensBefore: 168_008, tokensAfter: null, tokensSaved: null, summary: null })
  expect(await it.session()).toMatchObject({ compactions: 3, cycle: 4, state: 'ended' })
  const archives = await settledArchives(it)
  const kept = await Promise.all(archives.map((one) => expectWhole(it, one, it.home.transcript(run.sessionId!)!)))
  expect(kept.map((text) => boundaries(text).length).sort()).toEqual([0, 1, 2])
})

test('the next command ends a compaction during which the client was killed', async () => {
  const it = await stage({ steps: CLIMB, summary: { text: 'x', fail: 'hang' } }, { mod: true, server: true })
  const run = startPrint(it.home, { prompt: 'go', model: PROACTIVE })
  await until('it compacts', () => it.model.log().some((entry) => entry.kind === 'compaction'))
  await until('Baton knows', async () => (await it.session()).state === 'compacting')
  expect(await it.events('compaction_complete')).toEqual([])
  run.kill('SIGKILL')
  await run.done
  expect(await pairsOf(it)).toMatchObject([{ outcome: 'unknown', tokensBefore: 168_008, summary: null }])
  expect(await it.session()).toMatchObject({ state: 'ended', compactions: 0 })
  expect(await settledArchives(it)).toMatchObject([{ status: 'kept' }])
})

test('the first signal of a resumed session ends the compaction during which its client was killed', async () => {
  const it = await stage({ steps: CLIMB, summary: { text: 'x', fail: 'hang' } }, { server: true })
  const run = startPrint(it.home, { prompt: 'go', model: PROACTIVE })
  await until('it compacts', () => it.model.log().some((entry) => entry.kind === 'compaction'))
  await until('Baton knows', async () => (await it.events('compaction_start')).length === 1)
  run.kill('SIGKILL')
  const { sessionId } = await run.done
  const second = startPrint(it.home, { prompt: 'on', model: PROACTIVE, args: ['--resume', sessionId!] })
  await until('it works on', () =>
    it.model.log().some((entry) => entry.kind === 'compaction' && entry.outcome === 'open'),
  )
  const [first] = await it.events('compaction_complete')
  expect(first!.data.outcome).toBe('unknown')
  const resumed = (await it.events()).find(
    (event) => event.type === 'session_started' && event.data.source === 'resume',
  )
  expect(first!.id).toBeLessThan(resumed!.id)
  second.kill('SIGKILL')
  await second.done
  expect((await pairsOf(it)).map(({ outcome }) => outcome)).toEqual(['unknown', 'unknown'])
})
