import { expect, test } from 'vitest'
import { SUMMARY_INSTRUCTIONS } from '../../src/compaction/recovery.js'
import { visibleTexts } from '../../src/model/log.js'
import type { ScriptInput } from '../../src/model/script.js'
import {
  boundaries,
  counts,
  dialogue,
  expectWhole,
  FIRST,
  holdUntilWritten,
  order,
  pairsOf,
  SECOND,
  settledArchives,
} from '../harness/compactions.js'
import { runPrint } from '../harness/run-print.js'
import { runSdk } from '../harness/run-sdk.js'
import { mainRequests, type Stage, stage } from '../harness/stage.js'
import { until } from '../harness/wait.js'

const PROACTIVE = 'claude-opus-4-6'
const REACTIVE = 'claude-sonnet-4-5'
const PROMPT = 'Fix the login. Never touch the file legacy/auth.ts, and keep the public API as it is.'

const AFTER: ScriptInput['after_compaction'] = [
  { bash: 'echo d', used: 30_008 },
  { bash: 'echo e', used: 31_008 },
  { bash: 'echo f', used: 32_008 },
  { text: 'Done.', used: 33_008 },
]
const REFUSED: ScriptInput = {
  steps: [
    { bash: 'echo a > made.txt', used: 100_008 },
    { bash: 'git status --short', used: 191_008 },
    { text: 'Never.', fail: 'too-long' },
  ],
  summary: 'The user wants the login fixed.',
  after_compaction: AFTER,
}
const CLIMB: ScriptInput = {
  ...REFUSED,
  steps: [
    { bash: 'echo a > made.txt', used: 100_008 },
    { bash: 'git status --short', used: 150_008 },
    { bash: 'echo c', used: 169_008 },
    'Never said.',
  ],
}
const TALK: ScriptInput = {
  ...CLIMB,
  steps: [
    { bash: 'echo a > made.txt', used: 100_008 },
    { text: 'One.', used: 101_008 },
  ],
}

interface Expected {
  trigger: 'auto' | 'manual'
  before: number
  /** Number of requests after the compaction. */
  requests?: number
}

/** Checks archive, events, instructions and recovery of one compaction, whatever triggered it. */
async function expectCompactionHandled(it: Stage, { trigger, before, requests = 4 }: Expected): Promise<void> {
  const { session_id: id } = await it.session()
  const transcript = it.home.transcript(id)!
  const archives = (await settledArchives(it)).filter((one) => one.trigger === trigger)
  expect(archives).toHaveLength(1)
  const kept = await expectWhole(it, archives[0]!, transcript)
  expect(boundaries(kept)).toEqual([])
  // The archive holds the whole conversation before; the client may add its own records meanwhile.
  const between = transcript.slice(kept.length, transcript.indexOf('"compact_boundary"'))
  expect(kept).toContain('echo a > made.txt')
  expect(between).not.toMatch(/"type":"(user|assistant)"/)

  const [figures, ...others] = boundaries(transcript)
  expect(others).toEqual([])
  const asked = it.model.log().filter((entry) => entry.kind === 'compaction')
  expect(asked).toHaveLength(1)
  expect(await pairsOf(it)).toMatchObject([
    {
      outcome: 'completed',
      triggerReason: trigger === 'auto' ? 'threshold_exceeded' : 'manual',
      tokensBefore: before,
      tokensAfter: figures!.postTokens,
      tokensSaved: before - figures!.postTokens,
      durationMs: figures!.durationMs,
      summary: /<summary>\n([\s\S]*)\n<\/summary>/.exec(asked[0]!.answer!.text)![1],
    },
  ])
  expect(asked[0]!.answer!.text).toContain('<analysis>')
  await until('the loss report', async () => (await it.events('loss_report')).length > 0)
  const events = await it.events()
  const after = events.slice(events.findIndex(({ type }) => type === 'compaction_start'))
  expect(order(after, 'compaction_start', 'cycle_started', 'compaction_complete', 'loss_report')).toEqual([
    'compaction_start',
    'cycle_started',
    'compaction_complete',
    'loss_report',
  ])
  // The client keeps instructions of a manual compaction in the conversation, so Baton adds only
  // the configured ones.
  const instructions = visibleTexts(asked[0]!).join('\n').split('Additional Instructions:')[1]
  const instructed = instructions?.includes(SUMMARY_INSTRUCTIONS) ?? false
  expect(instructed).toBe(trigger === 'auto')
  expect(counts(it, FIRST)).toEqual(Array(requests).fill(1))
  const next = mainRequests(it.model).find((entry) => entry.cycle === 1)!
  const told = visibleTexts(next).find((text) => text.includes(FIRST))!
  expect(told.split(`> ${PROMPT}`)).toHaveLength(2)
  expect(counts(it, SUMMARY_INSTRUCTIONS)).toEqual(Array(requests).fill(0))
}

test('a compaction after an API refusal has an archive, events, a loss report and a recovery', async () => {
  const it = await stage(REFUSED, { mod: true, server: true })
  holdUntilWritten(it.home, { results: 2, text: 'git status --short' })
  const run = await runPrint(it.home, { prompt: PROMPT, model: REACTIVE })
  expect(run.result).toMatchObject({ result: 'Done.', is_error: false })
  await expectCompactionHandled(it, { trigger: 'auto', before: 191_008 })
  expect(await pairsOf(it)).toMatchObject([{ overflow: true }])
  expect(counts(it, SECOND)).toEqual([0, 0, 0, 0])
})

test('a compaction in an SDK program has an archive, events, a loss report and a recovery', async () => {
  const it = await stage(CLIMB, { mod: false, server: false })
  holdUntilWritten(it.home, { results: 3, text: 'echo c' })
  const run = await runSdk(it.home, { prompt: PROMPT, options: { model: PROACTIVE } })
  expect([run.error, run.result?.result]).toEqual([null, 'Done.'])
  await expectCompactionHandled(it, { trigger: 'auto', before: 169_008 })
})

test('a manual compaction in -p has an archive and a recovery, and keeps the user’s instructions', async () => {
  const it = await stage(TALK, { mod: false, server: true })
  holdUntilWritten(it.home, { results: 1, text: 'One.' })
  const talk = dialogue(it.home, PROACTIVE)
  await talk.say(PROMPT)
  await talk.say('/compact keep the colour of the button')
  await talk.say('on')
  await talk.end()
  await expectCompactionHandled(it, { trigger: 'manual', before: 101_008 })
  const asked = visibleTexts(it.model.log().find((entry) => entry.kind === 'compaction')!).join('\n')
  expect(asked).toContain('keep the colour of the button')
})

test('repeated manual compactions never treat Baton’s text as the user’s', async () => {
  const it = await stage(
    { ...TALK, after_compaction: [AFTER!, AFTER!] as ScriptInput['after_compaction'] },
    { mod: false },
  )
  const talk = dialogue(it.home, PROACTIVE)
  await talk.say(PROMPT)
  await talk.say('/compact')
  await talk.say('Now the logout, too.')
  await talk.say('/compact')
  await talk.say('on')
  await talk.end()
  const next = mainRequests(it.model).find((entry) => entry.cycle === 2)!
  const told = visibleTexts(next).findLast((text) => text.includes(FIRST))!
  expect(told).toContain('> Now the logout, too.')
  expect(told).not.toContain('local-command')
  expect(counts(it, FIRST, 2)).toEqual([1, 1, 1, 1])
  expect((await pairsOf(it)).map(({ outcome, tokensBefore }) => [outcome, tokensBefore])).toEqual([
    ['completed', 101_008],
    ['completed', 33_008],
  ])
  expect(await it.events('loss_report')).toHaveLength(2)
})
