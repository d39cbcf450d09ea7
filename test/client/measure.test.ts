import { expect, test } from 'vitest'
import type { Event } from '../../src/contract/records/event.js'
import { countOccurrences } from '../../src/model/log.js'
import { runPrint } from '../harness/run-print.js'
import { countWarnings, mainRequests, PAIRS, type Stage, stage } from '../harness/stage.js'
import { until } from '../harness/wait.js'

const figures = (events: Event[]): unknown[] => events.map((event) => event.data.used_tokens)

/** Sums the usage that the model reported for the main conversation. */
function spent(it: Stage): Record<string, number> {
  const sum = { input_tokens: 0, output_tokens: 0, cache_creation_tokens: 0, cache_read_tokens: 0 }
  for (const { answer } of mainRequests(it.model)) {
    sum.input_tokens += answer?.usage?.input_tokens ?? 0
    sum.output_tokens += answer?.usage?.output_tokens ?? 0
    sum.cache_creation_tokens += answer?.usage?.cache_creation_input_tokens ?? 0
    sum.cache_read_tokens += answer?.usage?.cache_read_input_tokens ?? 0
  }
  return sum
}

test.each(PAIRS)(
  'six answers up to 125,008 tokens are shown as 62.5% of the window, and never added up: %s',
  async (_, how) => {
    const it = await stage(
      {
        steps: [
          {
            thinking: 'Hm.',
            text: 'On it.',
            bash: ['echo a', 'echo b', 'echo c'],
            used: 50_008,
            grow: 15_000,
            repeat: 5,
          },
          { thinking: 'So.', text: 'Done.', used: 125_008 },
        ],
      },
      how,
    )
    const run = await runPrint(it.home, { prompt: 'go', model: 'claude-opus-4-6' })
    expect([run.code, run.stderr]).toEqual([0, ''])
    // Without a server, background engines read the last signals after the client has ended.
    const session = await until('the session has ended', async () => {
      const found = await it.session()
      return found.state === 'ended' && found
    })
    expect(session).toMatchObject({
      session_id: run.sessionId,
      model: 'claude-opus-4-6',
      used_tokens: 125_008,
      window_tokens: 200_000,
      used_percent: 62.5,
      compaction_tokens: 167_000,
      compaction_percent: 74.9,
      remaining_percent: 25.1,
      compaction_mode: 'proactive',
      exact: how.mod,
      // Both sources hold the last answer; which one is read last depends on timing.
      source: how.mod ? expect.stringMatching(/^(?:mod|transcript)$/) : 'transcript',
      cycle: 1,
      compactions: 0,
    })
    const read = figures(await it.events('reading'))
    expect(read).toEqual([...new Set(read)].sort((a, b) => Number(a) - Number(b)))
    expect(read.at(-1)).toBe(125_008)
    expect([50_008, 65_008, 80_008, 95_008, 110_008, 125_008]).toEqual(expect.arrayContaining(read))
    expect(session.spend).toMatchObject(spent(it))
    expect(session.spend.cost_usd).toBe(how.mod ? run.result!.total_cost_usd : null)
    await until('no file is left over', () => it.strays().every((name) => name.startsWith('outbox')))
  },
)

test('a subagent has its own figures, does not change its parent’s and gets no warnings', async () => {
  const it = await stage(
    {
      steps: [
        { bash: 'echo a', used: 50_008 },
        { agent: { prompt: 'SUB work', type: 'general-purpose', description: 'Look around' }, used: 90_008 },
        { bash: 'echo b', used: 91_008, grow: 1000, repeat: 2 },
        { text: 'Done.', used: 93_008 },
      ],
      subagents: [
        {
          steps: [
            { bash: 'echo s', used: 20_008 },
            { bash: 'echo s', used: 150_008, repeat: 3 },
            { text: 'Ok.', used: 160_008 },
          ],
        },
      ],
    },
    { mod: true, server: true },
  )
  const run = await runPrint(it.home, { prompt: 'go', model: 'claude-opus-4-6' })
  expect(run.result?.result).toBe('Done.')
  const session = await it.show(run.sessionId!)
  expect(session).toMatchObject({ used_tokens: 93_008, used_percent: 46.5, level: 'notice' })
  expect(session.spend).toMatchObject(spent(it))
  expect(session.subagents).toMatchObject([
    {
      type: 'general-purpose',
      description: 'Look around',
      used_tokens: 160_008,
      window_tokens: 200_000,
      used_percent: 80,
    },
  ])
  expect([50_008, 90_008, 91_008, 92_008, 93_008]).toEqual(expect.arrayContaining(figures(await it.events('reading'))))
  expect((await it.events('level_crossed')).map((event) => event.data.level)).toEqual(['notice'])
  expect(countWarnings(it.model, 'notice').at(-1)).toBe(1)
  const inside = it.model.log().filter((entry) => entry.kind === 'subagent')
  expect(inside.map((entry) => countOccurrences(entry, '[baton]'))).toEqual([0, 0, 0, 0, 0])
})

test('failed requests and their transcript lines never produce a reading of 0', async () => {
  const it = await stage(
    {
      steps: [
        { bash: 'echo a', used: 60_008 },
        { bash: 'echo b', used: 70_008, fail: [{ kind: 429, retry_after: 0 }, 500] },
        { text: 'Never.', used: 71_008, fail: { kind: 400, times: 'always', message: 'no' } },
      ],
    },
    { mod: false, server: false },
  )
  const run = await runPrint(it.home, { prompt: 'go', model: 'claude-opus-4-6' })
  expect(run.result).toMatchObject({ is_error: true })
  expect(it.home.transcript(run.sessionId!)).toContain('"model":"<synthetic>"')
  expect(await it.session()).toMatchObject({ used_tokens: 70_008, used_percent: 35, cycle: 1, compactions: 0 })
  expect([60_008, 70_008]).toEqual(expect.arrayContaining(figures(await it.events('reading'))))

  // After a resume the old figure stays until the next answer, without a reading of 0.
  await runPrint(it.home, { prompt: 'again', model: 'claude-opus-4-6', args: ['--resume', run.sessionId!] })
  expect(await it.session()).toMatchObject({ used_tokens: 70_008, cycle: 1 })
  expect([60_008, 70_008]).toEqual(expect.arrayContaining(figures(await it.events('reading'))))
})

test('an answer of several rounds counts with the figure of its last round', async () => {
  const it = await stage(
    {
      steps: [
        { bash: 'echo a', used: 50_008 },
        { bash: 'echo b', iterations: [52_008, 60_008], server_tools: { web_search_requests: 1 } },
        { text: 'Done.', used: 61_008 },
      ],
    },
    { mod: true, server: false },
  )
  await runPrint(it.home, { prompt: 'go', model: 'claude-opus-4-6' })
  expect(await it.session()).toMatchObject({ used_tokens: 61_008, level: null })
  expect([50_008, 60_008, 61_008]).toEqual(expect.arrayContaining(figures(await it.events('reading'))))
})
