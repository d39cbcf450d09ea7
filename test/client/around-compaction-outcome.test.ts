import { expect, test } from 'vitest'
import type { ScriptInput } from '../../src/model/script.js'
import { addHook, dialogue, pairsOf, settledArchives } from '../harness/compactions.js'
import { runPrint } from '../harness/run-print.js'
import { type Stage, type StageOptions, stage } from '../harness/stage.js'
import { startTui } from '../harness/tui.js'
import { until } from '../harness/wait.js'

const PROACTIVE = 'claude-opus-4-6'
const REACTIVE = 'claude-sonnet-4-5'
const AFTER: ScriptInput['after_compaction'] = [
  { bash: 'echo d', used: 30_008 },
  { text: 'Done.', used: 32_008 },
]
const CLIMB: ScriptInput['steps'] = [
  { bash: 'echo a', used: 100_008 },
  { bash: 'echo b', used: 168_008, grow: 500, repeat: 3 },
  { text: 'Done.', used: 172_000 },
]
const REFUSED: ScriptInput['steps'] = [
  { bash: 'echo a', used: 100_008 },
  { bash: 'echo c', used: 191_008 },
  { text: 'Never.', fail: 'too-long' },
]
const TALK: ScriptInput['steps'] = [
  { bash: 'echo a', used: 100_008 },
  { text: 'One.', used: 101_008 },
  { text: 'Two.', used: 102_008 },
]
const NO_SUMMARY: ScriptInput['summary'] = { text: 'x', fail: { kind: 400, times: 'always' } }

async function blocking(script: ScriptInput, how: StageOptions): Promise<Stage> {
  const it = await stage(script, how)
  addHook(it.home, 'PreCompact', 'cat >/dev/null; echo "not now" >&2; exit 2')
  return it
}

const outcomes = async (it: Stage): Promise<string[]> => (await pairsOf(it)).map(({ outcome }) => outcome)

test('a compaction that another hook blocks is recorded as started and blocked each time', async () => {
  const it = await blocking({ steps: CLIMB }, { mod: true, server: false })
  const run = await runPrint(it.home, { prompt: 'go', model: PROACTIVE })
  expect(run.result).toMatchObject({ result: 'Done.' })
  const pairs = await pairsOf(it)
  expect(pairs.map(({ outcome }) => outcome)).toEqual(['blocked', 'blocked', 'blocked'])
  expect(pairs.map(({ tokensBefore }) => tokensBefore)).toEqual([168_008, 168_508, 169_008])
  for (const pair of pairs) {
    expect(pair).toMatchObject({
      triggerReason: 'threshold_exceeded',
      summary: null,
      tokensAfter: null,
      tokensSaved: null,
    })
  }
  expect(await it.session()).toMatchObject({ compactions: 0, cycle: 1, used_tokens: 172_000, state: 'ended' })
  expect(await it.events('recovery_delivered')).toEqual([])
  expect(await it.events('loss_report')).toEqual([])
  expect((await settledArchives(it)).every(({ status }) => status === 'kept')).toBe(true)
})

test('a compaction that is blocked until the client refuses to continue ends as blocked', async () => {
  const steps: ScriptInput['steps'] = [
    { bash: 'echo a', used: 100_008 },
    { bash: 'echo a', used: 168_008 },
    { bash: 'echo b', used: 178_008 },
    'Never.',
  ]
  const it = await blocking({ steps }, { mod: false })
  const tui = await startTui(it.home, { model: PROACTIVE })
  await tui.submit('go')
  await tui.waitFor(/Prompt is too long|Context limit/)
  // The client is idle before its hook for a failed turn has run.
  await until('the failed turn is recorded', async () => (await it.session()).state === 'idle')
  expect(await outcomes(it)).toEqual(['blocked', 'blocked'])
  expect(await it.session()).toMatchObject({ compactions: 0 })
  await tui.exit()
  expect(await outcomes(it)).toEqual(['blocked', 'blocked'])
})

test('a compaction after an API refusal that another hook blocks is recorded once as blocked', async () => {
  const it = await blocking({ steps: REFUSED, after_compaction: AFTER }, { mod: true, server: true })
  const run = await runPrint(it.home, { prompt: 'go', model: REACTIVE })
  expect(run.result).toMatchObject({ is_error: true, terminal_reason: 'prompt_too_long' })
  expect(await pairsOf(it)).toMatchObject([{ outcome: 'blocked', tokensBefore: 191_008 }])
})

test('a compaction that the user requests and that fails is recorded with this outcome', async () => {
  const it = await stage({ steps: TALK, summary: NO_SUMMARY }, { mod: false, server: true })
  const talk = dialogue(it.home, PROACTIVE)
  await talk.say('go')
  await talk.say('/compact some words')
  // The client sends no event for this outcome, so the next command must detect it.
  expect(await pairsOf(it)).toMatchObject([
    { outcome: 'failed', triggerReason: 'manual', tokensBefore: 101_008, summary: null },
  ])
  expect(await it.session()).toMatchObject({ state: 'idle', compactions: 0 })
  await talk.say('on')
  await talk.end()
  expect(await outcomes(it)).toEqual(['failed'])
  expect(await it.session()).toMatchObject({ used_tokens: 102_008, cycle: 1 })
})

test('a failed summary request ends neither the turn nor the session', async () => {
  const how = { mod: false, server: true }
  const it = await stage({ steps: CLIMB, summary: NO_SUMMARY, after_compaction: AFTER }, how)
  const run = await runPrint(it.home, { prompt: 'go', model: PROACTIVE })
  expect(run.result).toMatchObject({ result: 'Done.' })
  expect(await outcomes(it)).toEqual(['failed', 'failed', 'failed'])
  expect(await it.session()).toMatchObject({ compactions: 0, cycle: 1, used_tokens: 172_000 })
})

test('a failed summary request after an API refusal is recorded as a failed compaction', async () => {
  const it = await stage({ steps: REFUSED, summary: NO_SUMMARY, after_compaction: AFTER }, { mod: false })
  const run = await runPrint(it.home, { prompt: 'go', model: REACTIVE })
  expect(run.result).toMatchObject({ is_error: true })
  expect(await outcomes(it)).toEqual(['failed'])
})
